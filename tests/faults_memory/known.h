/* known.h - the rows that do not hold yet, by function and text. */
