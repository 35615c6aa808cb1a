/* known.h - the rows that fail today and are known, by function and text. */
