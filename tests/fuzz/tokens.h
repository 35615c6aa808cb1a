/* tokens.h - checks that the targets of BPE files and of tokenizers share. */
#ifndef HEED_TESTS_FUZZ_TOKENS_H
#define HEED_TESTS_FUZZ_TOKENS_H

#include "fuzz.h"

/* n bytes of an input, ended by a zero; free(). Each byte 1 in it becomes the entries of the 256
 * single bytes in GPT-2's spelling: "!":0,"\"":1, ... So a good vocab.json is short. */
char *spelled_out(const uint8_t *part, size_t n, size_t *length);

/* The memory that ids may take, up to the largest one: of a tokenizer, of the one that it is saved
 * and loaded as, and while a file is read. */
enum { IDS_MOST = 80 << 20 };

/* Encodes the text in all three ways. Ids are in range and give the text again. */
void check_encoding(const hd_tokenizer *t, const char *text, size_t n);

/* Saves t, loads it, and saves it again: both have the same entries and encode alike. */
void check_saving(const hd_tokenizer *t, const char *text, size_t n);

#endif
