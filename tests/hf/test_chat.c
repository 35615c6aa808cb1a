/* test_chat.c - tests of hd_chat: texts of templates as transformers writes them, the places of the
 * template and its tokens in a folder, and refusals. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suites.h"

#define CHAT GOLDEN_DIR "/chat"

/* ---------------------------------------------------------------- a folder with a template */

static const char *in_c(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", temporary("c"), name);
    return path;
}

static void put(const char *name, const char *text)
{
    write_file(in_c(name), text, strlen(text));
}

static void begin_c(void)
{
    ck_assert_int_eq(mkdir(temporary("c"), 0700), 0);
}

static void end_c(void)
{
    unlink(in_c("chat_template.jinja"));
    unlink(in_c("tokenizer_config.json"));
    unlink(in_c("special_tokens_map.json"));
    ck_assert_int_eq(rmdir(temporary("c")), 0);
}

/* The text of a chat with one message of the user, "Hi", by the folder's template */
static void ck_text(const hd_chat_options *o, const char *wanted)
{
    hd_chat *c = hd_chat_new(temporary("c"), o);
    ck_assert_msg(hd_chat_add(c, "user", "Hi"), "%s", hd_error_message());
    const char *text = hd_chat_text(c, true);
    ck_assert_str_eq(text ? text : hd_error_message(), wanted);
    hd_chat_free(c);
}

/* A template is refused with this code and message, in which @ stands for the folder. */
static void ck_refused(const char *template, hd_code code, const char *message)
{
    char wanted[1024];
    const char *at = strchr(message, '@');
    put("chat_template.jinja", template);
    hd_chat *c = hd_chat_new(temporary("c"), NULL);
    ck_assert(!c || (hd_chat_add(c, "user", "Hi") && !hd_chat_text(c, true)));
    snprintf(wanted, sizeof wanted, "%s: '%s/chat_template.jinja', %s",
             c ? "hd_chat_text" : "hd_chat_new", temporary("c"), at ? at + 1 : message);
    ck_error(code, wanted);
    hd_chat_free(c);
}

/* ---------------------------------------------------------------- as transformers */

/* The next field of a line, without its escapes; *at goes behind it. */
static char *field(char **at)
{
    static const char letters[] = "nrt\\", means[] = "\n\r\t\\";
    char *begin = *at, *to = begin, *s = begin;
    for (; *s && *s != '\t' && *s != '\n'; s++) {
        const char *letter = *s == '\\' ? strchr(letters, *++s) : NULL;
        *to++ = letter ? means[letter - letters] : *s;
    }
    *at = s + (*s != '\0');
    *to = '\0';
    return begin;
}

/* Has the template in the file this text? NULL: transformers refuses it, and so does heed. */
static int64_t ck_template(hd_chat *c, const char *template, const char *word, const char *wanted)
{
    const char *text = c ? hd_chat_text(c, strcmp(word, "reply") == 0) : NULL;
    bool same = text && wanted ? strcmp(text, wanted) == 0 : !text && !wanted;
    if (!same) {
        fprintf(stderr, "%s of %s\n  expected %s\n  found %s\n", word, template,
                wanted ? wanted : "an error", text ? text : hd_error_message());
    }
    ck_assert(text || hd_error_code() == HD_FORMAT || hd_error_code() == HD_VALUE);
    hd_error_clear();
    return !same;
}

/* Adds the file's messages to the chat of a template. */
static hd_chat *chat_of(const char *template, const char *variables, char *roles[], char *texts[],
                        int n)
{
    hd_chat_options o = hd_chat_defaults();
    o.variables = variables;
    o.template_file = file_of("t.jinja", template, strlen(template));
    hd_chat *c = hd_chat_new(temporary("c"), &o);
    for (int i = 0; c && i < n; i++) {
        ck_assert(hd_chat_add(c, roles[i], texts[i]));
    }
    return c;
}

START_TEST(templates_of_transformers)
{
    size_t size;
    char *all = read_file(GOLDEN_DIR "/templates.txt", &size), *at = all;
    char *variables = NULL, *template = NULL, *roles[8], *texts[8];
    int n = 0, count = 0, given = 0;
    int64_t wrong = 0;
    hd_chat *c = NULL;
    begin_c();
    put("tokenizer_config.json",
        "{\"bos_token\": \"<s>\", \"eos_token\": {\"content\": \"</s>\"}}");
    while (at < all + size) {
        char *word = field(&at), *value = field(&at);
        if (strcmp(word, "variables") == 0) {
            variables = value;
        } else if (strcmp(word, "message") == 0) {
            roles[n] = value;
            texts[n++] = field(&at);
        } else if (strcmp(word, "template") == 0) {
            wrong += count > 0 && !given ? ck_template(c, template, "text", NULL) : 0;
            hd_chat_free(c);
            template = value;
            c = chat_of(template, variables, roles, texts, n);
            given = 0;
            count++;
        } else {
            wrong += ck_template(c, template, word, value);
            given++;
        }
    }
    wrong += ck_template(c, template, "text", given ? template : NULL) && !given;
    hd_chat_free(c);
    free(all);
    unlink(temporary("t.jinja"));
    end_c();
    ck_assert_int_gt(count, 205);
    ck_assert_msg(wrong == 0, "%lld texts of %d templates differ", (long long)wrong, count);
}
END_TEST

/* ---------------------------------------------------------------- folders */

START_TEST(template_of_a_folder)
{
    begin_c();
    put("tokenizer_config.json", "{\"chat_template\": \"config {{ bos_token }}{{ eos_token }}\","
                                 " \"bos_token\": {\"content\": \"<b>\"}, \"eos_token\": null}");
    ck_text(NULL, "config <b>");
    put("special_tokens_map.json",
        "{\"bos_token\": \"<m>\", \"eos_token\": {\"content\": \"<e>\"}}");
    ck_text(NULL,
            "config <m><e>"); /* transformers reads it only where the other file has no decoder */
    put("tokenizer_config.json",
        "{\"chat_template\": [{\"name\": \"tool_use\", \"template\": \"tools\"},"
        " {\"name\": \"default\", \"template\": \"list {{ bos_token }}\"}],"
        " \"bos_token\": \"<b>\", \"added_tokens_decoder\": {\"0\": {\"content\": \"<b>\"}}}");
    ck_text(NULL, "list <b>");
    put("chat_template.jinja", "jinja {{ bos_token }}\n");
    ck_text(NULL, "jinja <b>");
    hd_chat_options o = hd_chat_defaults();
    const char crlf[] = "file\r\n{{ messages[0].content }}";
    o.template_file = file_of("t.jinja", crlf, sizeof crlf - 1);
    ck_text(&o, "file\nHi");
    unlink(temporary("t.jinja"));
    end_c();
}
END_TEST

START_TEST(variables_and_date)
{
    hd_chat_options o = hd_chat_defaults();
    begin_c();
    o.variables = "{\"x\": [1, {\"a\": null}], \"bos_token\": \"<v>\", \"messages\": 1}";
    o.now = 1722003323;
    put("chat_template.jinja", "{{ x | tojson }}{{ bos_token }}{{ messages | length }} {{ "
                               "strftime_now('%d %b %Y, %A %a %B %H:%M:%S %m%%') }}");
    ck_text(&o, "[1, {\"a\": null}]<v>1 26 Jul 2024, Friday Fri July 14:15:23 07%");
    o.now = 0;
    put("chat_template.jinja",
        "{{ strftime_now('%Y') | length }}{{ tools is none }}{{ documents }}");
    ck_text(&o, "4TrueNone");
    char wanted[1024];
    o.variables = "{\"zero\": \"\\u0000\"}";
    put("chat_template.jinja", "a{{ zero }}");
    hd_chat *c = hd_chat_new(temporary("c"), &o);
    ck_assert(hd_chat_add(c, "user", "Hi") && !hd_chat_text(c, true));
    snprintf(wanted, sizeof wanted,
             "hd_chat_text: '%s/chat_template.jinja', line 1: '{{ zero }}': the template writes a "
             "zero byte, which a C string cannot hold",
             temporary("c"));
    ck_error(HD_VALUE, wanted);
    hd_chat_free(c);
    o.variables = "[]";
    ck_assert_ptr_null(hd_chat_new(temporary("c"), &o));
    ck_error(HD_VALUE, "hd_chat_new: o->variables is a list: expected a JSON object");
    o.variables = "{\"a\": 0.5}";
    ck_assert_ptr_null(hd_chat_new(temporary("c"), &o));
    ck_error(HD_FORMAT, "hd_chat_new: o->variables: line 1, column 7: found a number: expected a "
                        "whole number of 64 bits");
    o.variables = "{\"a\": }";
    ck_assert_ptr_null(hd_chat_new(temporary("c"), &o));
    ck_error(HD_FORMAT, "hd_chat_new: o->variables: line 1, column 7: found '}': expected a value");
    end_c();
}
END_TEST

/* ---------------------------------------------------------------- conversations */

START_TEST(messages_are_added_and_cut)
{
    hd_tokenizer *t = hd_tokenizer_json(CHAT "/tokenizer.json");
    hd_chat *c = hd_chat_new(CHAT, NULL);
    ck_assert(hd_chat_add(c, "system", "Be short.") && hd_chat_add(c, "user", "Hello!"));
    ck_assert(hd_chat_add(c, "assistant", "Hi.") && hd_chat_len(c) == 3 && hd_chat_cut(c, 2));
    const char *text =
        "<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\nHello!<|im_end|>\n"
        "<|im_start|>assistant\n";
    ck_assert_str_eq(hd_chat_text(c, true), text);
    {
        HD_SCOPE;
        ck_assert(hd_equal(hd_chat_encode(c, t, true),
                           hd_tokenizer_encode(t, text, -1, HD_SPECIAL_ALLOW)));
    }
    ck_assert(!hd_chat_cut(c, 3));
    ck_error(HD_INDEX, "hd_chat_cut: n 3: expected 0 to 2");
    ck_assert(!hd_chat_cut(c, -1));
    ck_error(HD_INDEX, "hd_chat_cut: n -1: expected 0 to 2");
    ck_assert(!hd_chat_add(c, "user", "G\xfcte") && hd_chat_len(c) == 2);
    ck_error(HD_FORMAT, "hd_chat_add: text has byte 0xfc at 1: expected UTF-8");
    ck_assert(!hd_chat_add(c, "\xff", "a"));
    ck_error(HD_FORMAT, "hd_chat_add: role has byte 0xff at 0: expected UTF-8");
    ck_assert(hd_chat_cut(c, 0) && !hd_chat_text(c, true));
    ck_error(HD_VALUE, "hd_chat_text: there are no messages. Add one with hd_chat_add");
    hd_chat_free(c);
    hd_tokenizer_free(t);
    hd_chat_free(NULL);
}
END_TEST

START_TEST(eos_token_ends_an_answer)
{
    hd_tokenizer *t = hd_tokenizer_json(CHAT "/tokenizer.json");
    hd_chat *c = hd_chat_new(CHAT, NULL);
    hd_generate_options o = hd_generate_defaults();
    ck_assert(hd_chat_ends(c, t, &o) && o.num_eos == 1 && o.eos_token_id[0] == 2);
    ck_assert(hd_chat_ends(c, t, &o) && o.num_eos == 1);
    o.eos_token_id[0] = 3;
    o.num_eos = HD_EOS_MOST;
    ck_assert(!hd_chat_ends(c, t, &o) && o.num_eos == HD_EOS_MOST);
    ck_error(HD_VALUE,
             "hd_chat_ends: num_eos is 16, the largest number, so eos_token 2 cannot be added");
    o.eos_token_id[HD_EOS_MOST - 1] = 2;
    ck_assert(hd_chat_ends(c, t, &o) && o.num_eos == HD_EOS_MOST);
    o.num_eos = HD_EOS_MOST + 1;
    ck_assert(!hd_chat_ends(c, t, &o));
    ck_error(HD_VALUE, "hd_chat_ends: num_eos 17: expected 0 to 16");
    o.num_eos = -1;
    ck_assert(!hd_chat_ends(c, t, &o));
    ck_error(HD_VALUE, "hd_chat_ends: num_eos -1: expected 0 to 16");
    hd_chat_free(c);
    hd_tokenizer_free(t);
}
END_TEST

/* ---------------------------------------------------------------- what is refused */

START_TEST(folders_without_a_template)
{
    char wanted[512];
    begin_c();
    snprintf(
        wanted, sizeof wanted,
        "hd_chat_new: '%s' has no chat template: expected chat_template.jinja, or chat_template "
        "in tokenizer_config.json. Give a file with one (template_file in hd_chat_options), or "
        "write the prompt without one",
        temporary("c"));
    ck_assert_ptr_null(hd_chat_new(temporary("c"), NULL));
    ck_error(HD_VALUE, wanted);
    put("tokenizer_config.json",
        "{\"chat_template\": [{\"name\": \"tool_use\", \"template\": \"x\"}]}");
    ck_assert_ptr_null(hd_chat_new(temporary("c"), NULL));
    ck_error(HD_VALUE, wanted);
    put("chat_template.jinja", "a\xff");
    ck_assert_ptr_null(hd_chat_new(temporary("c"), NULL));
    snprintf(wanted, sizeof wanted,
             "hd_chat_new: '%s/chat_template.jinja' has byte 0xff at 1: expected UTF-8",
             temporary("c"));
    ck_error(HD_FORMAT, wanted);
    hd_chat_options o = {0};
    ck_assert_ptr_null(hd_chat_new(temporary("c"), &o));
    ck_assert_int_eq(hd_error_code(), HD_VALUE);
    hd_error_clear();
    end_c();
}
END_TEST

START_TEST(constructs_that_heed_has_not)
{
    begin_c();
    ck_refused("a\n{% include 'x' %}", HD_FORMAT,
               "line 2: 'include': expected if, for, set, macro, generation, break or continue");
    ck_refused("{{ messages | sort }}", HD_FORMAT,
               "line 1: 'messages | sort': heed has no filter sort");
    ck_refused("{{ 'a'.title() }}", HD_FORMAT,
               "line 1: ''a'.title()': heed has no method title of a string");
    ck_refused("{{ cycler(1) }}", HD_FORMAT, "line 1: 'cycler(1)': heed has no function cycler");
    ck_refused("{{ 1 is odd }}", HD_FORMAT, "line 1: '1 is odd': heed has no test odd");
    ck_refused("{{ 1 is eq(1) }}", HD_FORMAT, "line 1: '(': expected a test without an argument");
    ck_refused("{{ 1.5 }}", HD_FORMAT, "line 1: '1.5 }}': expected a whole number of 64 bits");
    ck_refused("{{ 99999999999999999999 }}", HD_FORMAT,
               "line 1: '99999999999999999999': expected a whole number of 64 bits");
    ck_refused("{{ 'a' 'b' }}", HD_FORMAT, "line 1: ''b'': expected the end of the tag");
    ck_refused("{{ {1: 2} }}", HD_FORMAT,
               "line 1: '{{ {1: 2': a key is a number: expected a string");
    ck_refused("{{ \xc3\xa4 }}", HD_FORMAT, "line 1: '\xc3\xa4': expected a value");
    ck_refused("{{ '0123456789012345678\xc3\xa4 }}", HD_FORMAT,
               "line 1: ''0123456789012345678': expected a quote at the end of the string");
    ck_refused("{{ messages.0 }}", HD_FORMAT, "line 1: '0': expected a name");
    ck_refused("{{ 7 / 2 }}", HD_FORMAT, "line 1: '/': expected the end of the tag");
    ck_refused("{{ 1 < 2 < 3 }}", HD_FORMAT, "line 1: '<': expected the end of the tag");
    ck_refused("{{ [1][::2] }}", HD_FORMAT, "line 1: '2': expected -");
    ck_refused("{{ [1][::-2] }}", HD_FORMAT, "line 1: ']': expected [::-1]");
    ck_refused("{{ 'ab'[::-1] }}", HD_FORMAT, "line 1: ''ab'[::-1]': heed reverses lists only");
    ck_refused("{% set a, b = [1, 2] %}", HD_FORMAT, "line 1: ',': expected the end of the tag");
    ck_refused("{% for x in [] %}{% else %}{% endfor %}", HD_FORMAT,
               "line 1: 'else': expected if, for, set, macro, generation, break or continue");
    ck_refused("{% for x in [1] %}{{ loop.revindex }}{% endfor %}", HD_FORMAT,
               "line 1: 'loop.revindex': heed's loop has index, index0, first, last, previtem and "
               "nextitem");
    ck_refused("{{ [1] == [1] }}", HD_FORMAT,
               "line 1: '[1] == [1]': heed cannot compare a list with another of its kind");
    ck_refused(
        "{{ range(1, 6, 2) }}", HD_FORMAT,
        "line 1: 'range(1, 6, 2)': heed has range only of whole numbers, in steps of 1 or -1");
    ck_refused("{{ messages | selectattr('role', 'in', 'x') }}", HD_FORMAT,
               "line 1: 'messages | selectattr('role', 'in', 'x')': heed has "
               "selectattr(attribute, 'equalto', value) only");
    ck_refused("{{ messages }}", HD_FORMAT,
               "line 1: '{{ messages': heed cannot write a list as text. Write |tojson after it");
    ck_refused("{{ '\\x41' }}", HD_FORMAT,
               "line 1: ''\\x41' }}': expected one of the escapes \\n \\t \\\\ \\' \\\" \\r \\a "
               "\\b \\f \\v");
    ck_refused("{% set g = messages[0] | items %}", HD_FORMAT,
               "line 1: '{% set g = messages[0] | items': heed cannot store a generator. Write "
               "|list after it");
    ck_refused("{{ '\xc3\xa4' | upper }}", HD_FORMAT,
               "line 1: ''\xc3\xa4' | upper': heed changes the case of ASCII texts only");
    ck_refused("{{ messages[0].items }}", HD_FORMAT,
               "line 1: 'messages[0].items': a method must be called");
    ck_refused("{% for x in [1] %}{{ loop.cycle(1) }}{% endfor %}", HD_FORMAT,
               "line 1: 'loop.cycle(1)': heed has no method cycle of a loop");
    ck_refused("{% for x in [1] %}{% macro m() %}{% endmacro %}{% endfor %}", HD_FORMAT,
               "line 1: '{% macro m': heed has no macro inside a loop or a macro");
    ck_refused(
        "{{ strftime_now('%j') }}", HD_FORMAT,
        "line 1: 'strftime_now('%j')': heed's dates have only %Y %m %d %H %M %S %B %b %A %a");
    ck_refused("{{ raise_exception('no') }}", HD_VALUE,
               "line 1: 'raise_exception('no')': the template refuses these messages: no");
    ck_refused(
        "{{ 9223372036854775807 + 1 }}", HD_VALUE,
        "line 1: '9223372036854775807 + 1': a division by zero, or a number of more than 64 bits");
    end_c();
}
END_TEST

START_TEST(values_of_another_kind)
{
    begin_c();
    ck_refused("{{ 'abc'.strip(1) }}", HD_FORMAT,
               "line 1: ''abc'.strip(1)': found a number: expected a string");
    ck_refused("{{ 'abc'.startswith(none) }}", HD_FORMAT,
               "line 1: ''abc'.startswith(none)': found none: expected a string");
    ck_refused("{{ 'abc' | replace('', '-') }}", HD_FORMAT,
               "line 1: ''abc' | replace('', '-')': heed cannot replace an empty string");
    ck_refused("{{ messages | tojson(ensure_ascii=true) }}", HD_FORMAT,
               "line 1: 'messages | tojson(ensure_ascii=true)': heed has tojson only without "
               "ensure_ascii, and with a number as indent");
    ck_refused("{{ messages | tojson(indent='x') }}", HD_FORMAT,
               "line 1: 'messages | tojson(indent='x')': heed has tojson only without "
               "ensure_ascii, and with a number as indent");
    ck_refused("{{ messages | items | list }}", HD_VALUE,
               "line 1: 'messages | items': found a list: expected a dict");
    ck_refused("{{ strftime_now(2024) }}", HD_FORMAT,
               "line 1: 'strftime_now(2024)': found a number: expected a string");
    ck_refused("{{ namespace(messages[0]).role }}", HD_FORMAT,
               "line 1: 'namespace(messages[0])': heed's namespace takes only arguments with "
               "names");
    ck_refused("{{ messages['1':] }}", HD_FORMAT,
               "line 1: 'messages['1':]': an end of a slice is a string: expected a number");
    ck_refused("{{ messages[0][1:] }}", HD_FORMAT,
               "line 1: 'messages[0][1:]': heed has no slice of a dict");
    ck_refused("{% for m in messages %}{{ loop | tojson }}{% endfor %}", HD_VALUE,
               "line 1: 'loop | tojson': tojson cannot write a loop");
    ck_refused("{{ 'a'.replace('b') }}", HD_FORMAT,
               "line 1: ''a'.replace('b')': the arguments of replace do not fit: expected (old "
               "new )");
    ck_refused("{{ 'a' in 1 }}", HD_FORMAT,
               "line 1: ''a' in 1': heed cannot compute in of a string and a number");
    end_c();
}
END_TEST

/* A template of a few bytes neither recurses nor runs nor grows without an end. */
START_TEST(templates_without_an_end)
{
    static char deep[4096];
    begin_c();
    memset(deep, '-', sizeof deep - 1);
    memcpy(deep, "{{ ", 3);
    memcpy(deep + sizeof deep - 5, "1 }}", 5);
    put("chat_template.jinja", deep);
    ck_assert_ptr_null(hd_chat_new(temporary("c"), NULL));
    ck_assert_ptr_nonnull(strstr(hd_error_message(), "expected less nesting"));
    hd_error_clear();
    ck_refused("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", HD_FORMAT,
               "line 1: '{{': expected less nesting");
    ck_refused("{% set n = namespace(x='ab') %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% "
               "endfor %}",
               HD_VALUE,
               "line 1: 'n.x + n.x': the template needs more memory than heed allows for messages "
               "of this length");
    ck_refused("{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}",
               HD_VALUE,
               "line 1: 'range(9999)': the template needs more memory than heed allows for "
               "messages of this length");
    ck_refused(
        "{% set n = range(2000) %}{% for i in n %}{% for j in n %}{% endfor %}{% endfor %}",
        HD_VALUE,
        "line 1: '{%': the template needs more steps than heed allows for messages of this length");
    ck_refused(
        "{% set s = '0123456789abcdef' %}{% set s = s ~ s ~ s ~ s %}"
        "{% set s = s ~ s ~ s ~ s %}{% for i in range(9999) %}{{ s }}{% endfor %}",
        HD_VALUE,
        "line 1: '{{ s': the template writes more than heed allows for messages of this length");
    ck_refused(
        "{% set n = namespace(x=[]) %}{% for i in range(999) %}{% set n.x = [n.x] %}{% endfor %}{{ "
        "n.x | tojson }}",
        HD_FORMAT,
        "line 1: 'n.x | tojson': tojson: the values are nested too deep, or a key is no string");
    end_c();
}
END_TEST

Suite *suite_chat(void)
{
    const TTest *const tests[] = {
        templates_of_transformers,    template_of_a_folder,     variables_and_date,
        messages_are_added_and_cut,   eos_token_ends_an_answer, folders_without_a_template,
        constructs_that_heed_has_not, values_of_another_kind,   templates_without_an_end};
    return SUITE("chat", tests);
}
