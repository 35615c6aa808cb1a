"""Makes tests/golden/templates.txt: small chat templates, and the texts that transformers renders from them.

usage: python tools/golden/golden_templates.py tests/golden/templates.txt

Needs transformers 5.23.0 and tokenizers. The templates are heed's own. Each is rendered for one conversation with the
variables below, with and without the start of a reply. A line has a word and fields with tabs between them, in which
\\n, \\r, \\t and \\\\ are escapes; `text` and `reply` follow their template, unless transformers refuses it.
"""
import json
import sys

from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

MESSAGES = [{"role": "system", "content": "Sei kurz."}, {"role": "user", "content": " Gr\u00FC\u00DF Gott \n"},
            {"role": "assistant", "content": "<think>\nhm\n</think>\n\nJa."}, {"role": "user", "content": "a,b,,c"}]
VARIABLES = {"enable_thinking": False, "numbers": [3, 1, 2], "empty": [],
             "d": {"a": 1, "b": [True, None, 25, "\u00E4\n\"q\""], "c": {}}}

EXPRESSIONS = [
    # values and operators
    "1 + 2 * 3 - 4", "7 % 3", "-7 % 3", "7 % -3", "- 3 + 4",
    "'a' + 'b' ~ 1 ~ none ~ true", "'tab\\tnew\\nquote\\'\\\"back\\\\'", "1 == '1'",
    "true == 1", "none == none", "nothing == none", "[1, 2] == 'a'", "1 in [[1], 2]",
    "'a' < 'b'", "'\u00E4' > 'z'", "3 >= 2", "2 <= 1", "'b' >= 'b'", "(1, 2) | length",
    "'a' in 'bab'", "'' in ''", "2 in numbers", "5 not in numbers", "'a' in d", "1 in {}", "'x' in nothing",
    "true and 0", "0 or 'b'", "not 0", "not not 'a'", "1 and nothing or 'c'", "'yes' if enable_thinking else 'no'",
    "'yes' if enable_thinking", "1 if false else 2 if false else 3", "('a' if true else 'b') + 'c'", "[1 if true else 2][0]",
    # parts
    "messages[0].role", "messages[0]['role']", "messages[-1].content", "messages[9]", "messages[0].nothing",
    "d.b[3]", "'gr\u00FC\u00DF'[2]", "'gr\u00FC\u00DF'[-1]", "'gr\u00FC\u00DFe'[1:3]", "'gr\u00FC\u00DFe'[-2:]", "'abc'[5:]",
    "numbers[1:] | join(',')", "numbers[::-1] | join(',')", "numbers[:-1] | join(',')", "numbers[-9:9] | join(',')",
    "(1, 2)[1]", "{'a': {'b': 2}}.a.b", "{'a': {'b': 2}}['a']['b']", "nothing.part",
    "messages | length", "messages[1].content.strip() | length", "none.part", "1.part",
    # tests
    "nothing is defined", "messages is defined", "none is none", "'a' is string", "d is mapping", "numbers is iterable",
    "'a' is iterable", "1 is iterable", "true is true", "1 is true", "enable_thinking is false", "nothing is not defined",
    "not nothing is defined", "numbers is sequence", "1 is number", "true is number", "true is boolean",
    "9223372036854775807", "nothing is undefined", "strftime_now is defined",
    # filters
    "messages[1].content | trim", "'xxaxx' | trim('x')", "'Hello' | upper | lower", "'hello WORLD' | capitalize",
    "'a-b-c' | replace('-', '+')", "numbers | join", "numbers | join(', ')", "d | tojson",
    "d | tojson(indent=2)", "'\u00E4\u0001' | tojson", "numbers | first", "numbers | last", "empty | first", "'abc' | last",
    "nothing | default('x')", "'' | default('x')", "'' | default('x', true)", "none | default('x', boolean=true)",
    "nothing | length", "none | length", "nothing | trim ~ '|'", "12 | string ~ '3'", "d | list | join", "d | items | list | tojson",
    "messages | selectattr('role', 'equalto', 'user') | list | length", "none | selectattr('a', 'equalto', 1) | list | length",
    "messages | selectattr('role', 'equalto', 'x') and 'generator'",
    "-3 | string", "(1 ~ 2) | length",
    # methods and functions
    "' a '.strip() ~ '|'", "'xxa'.lstrip('x')", "'a\\n\\n'.rstrip('\\n') ~ '|'", "messages[3].content.split(',') | tojson",
    "'a</t>b</t>c'.split('</t>', 1) | last", "'abc'.startswith('ab')", "'abc'.endswith('ab')", "''.startswith('')",
    "'a.b'.replace('.', ' ')", "d.get('a')", "d.get('x')", "d.get('x', 5)",
    "d['b'] | length", "namespace(a=1).a", "namespace(a=1).b is defined", "range(1, 4) | join", "range(4) | join", "range(3, 0, -1) | join",
    "raise_exception('no ' ~ 'way')", "bos_token + eos_token", "pad_token is defined",
]
STATEMENTS = [
    # white space
    "a\n  {% if true %}\nb\n  {% endif %}\nc\n", "a {%- if true -%} \n b {%- endif -%} \n c", "  {{ 1 }}\n{{ 2 }}\n\n",
    "a\n  {# comment #}\nb {#- x -#} c", "  {%+ if true +%}\nb{% endif %}", "{% if true %}a{% endif %}\n\nb", "a\r\nb\rc\r\n",
    " {% set x = 1 %} {{ x }}", "\n{{- 1 -}}\n", "{{ {'a': {'b': 1}} | tojson }}", "{{ '}}' }}{{ \"%}\" }}", "\t{% if true %}x{% endif %}",
    "{#- one -#}{#- two -#} {{- 3 }}", "a{#-#}b",
    # if, for, set
    "{% if false %}a{% elif 0 %}b{% elif 1 %}c{% elif 1 %}d{% else %}e{% endif %}", "{% if nothing %}a{% else %}b{% endif %}",
    "{% for m in messages %}{{ loop.index0 }}{{ m.role }}{{ ', ' if not loop.last }}{% endfor %}",
    "{% for x in numbers %}{{ loop.index }}{{ loop.first }}{{ loop.last }}{% endfor %}",
    "{% for x in numbers %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }};{% endfor %}",
    "{% for x in empty %}a{% endfor %}", "{% for x in nothing %}a{% endfor %}b", "{% for x in none %}a{% endfor %}",
    "{% for x in numbers if x > 1 %}{{ loop.index }}{{ x }}{% endfor %}", "{% for k, v in d.items() %}{{ k }}={{ v | tojson }};{% endfor %}",
    "{% for k in d %}{{ k }}{% endfor %}", "{% for x in numbers %}{% for y in numbers %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}",
    "{% set x = 1 %}{% for y in numbers %}{% set x = x + y %}{{ x }}{% endfor %}{{ x }}",
    "{% set ns = namespace(x=1) %}{% for y in numbers %}{% set ns.x = ns.x + y %}{% endfor %}{{ ns.x }}",
    "{% if true %}{% set x = 5 %}{% endif %}{{ x }}", "{% set x %}<{{ 1 }}>{% endset %}{{ x }}{{ x }}",
    "{% for x in numbers %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}", "{% for x in numbers %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}b",
    "{% for x in numbers %}{% break %}{% for y in numbers %}{{ y }}{% endfor %}a{% endfor %}b",
    "{% for x in numbers %}{% continue %}{% for y in numbers %}{{ y }}{% endfor %}a{% endfor %}b",
    "{% set messages = messages[1:] %}{{ messages | length }}", "{% for m in messages %}{% generation %}{{ m.role }}{% endgeneration %}{% endfor %}",
    "{% for a, b in [(1, 2), (3, 4)] %}{{ a + b }}{% endfor %}", "{% for a, b in [(1, 2, 3)] %}{% endfor %}", "{% set d.a = 1 %}",
    # macros
    "{% macro m(a, b='B') %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, 2) }}{{ m(b=3, a=4) }}{{ m() }}", "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}",
    "{% macro down(n) %}{{ n }}{% if n %}{{ down(n - 1) }}{% endif %}{% endmacro %}{{ down(3) }}",
    "{% macro m() %}{{ x }}{% endmacro %}{% set x = 7 %}{{ m() }}{% for x in numbers %}{{ m() }}{% endfor %}",
    # the forms of models
    "{{ bos_token }}{% for m in messages %}{{ '<|' + m['role'] + '|>\n' + m['content'] + eos_token + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}",
    "{%- set last = namespace(i=messages | length - 1) %}{%- for m in messages[::-1] %}{%- set i = (messages | length - 1) - loop.index0 %}"
    "{%- if m.role == 'assistant' and '</think>' in m.content %}{{- i ~ m.content.split('</think>')[-1].lstrip('\n') }}{%- endif %}{%- endfor %}",
    # what is wrong
    "{% if %}", "{% for x numbers %}{% endfor %}", "{{ 1 + }}", "{{ 'a }}", "{% if true %}", "{{ (1 }}", "{# a", "{{ 1 1 }}", "{% endif %}",
    "{{ 1 % 0 }}", "{{ 'a' + 1 }}", "{{ none + 'a' }}", "{{ 1 < 'a' }}", "{{ nothing + 1 }}", "{{ nothing() }}", "{% break %}",
    "{% macro m() %}{% break %}{% endmacro %}{% for x in numbers %}{{ m() }}{% endfor %}", "{{ 'a'.split('') }}", "{{ -'a' }}", "{{ [1][0", "{{", "{%",
]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), bos_token="<s>", eos_token="</s>")
    lines, refused = [["variables", json.dumps(VARIABLES, ensure_ascii=False)]], 0
    lines += [["message", m["role"], m["content"]] for m in MESSAGES]
    templates = ["{{ " + e + " }}" for e in EXPRESSIONS] + STATEMENTS
    for template in templates:
        lines.append(["template", template])
        for word, reply in ("text", False), ("reply", True):
            try:
                lines.append([word, tokenizer.apply_chat_template(
                    MESSAGES, chat_template=template, tokenize=False, add_generation_prompt=reply, **VARIABLES)])
            except Exception:  # whatever it raises
                refused += not reply
    escapes = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        for line in lines:
            f.write("\t".join("".join(escapes.get(c, c) for c in field) for field in line) + "\n")
    print(f"{len(templates)} templates, {refused} of which transformers refuses")


if __name__ == "__main__":
    main()
