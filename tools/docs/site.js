// site.js - the search over names.js, and the choice of light and dark. Everything else is plain HTML.
"use strict";
(function () {
    const tools = document.getElementById("site-tools");
    const names = window.HEED_NAMES || [];
    const most = 14;

    // ---- light and dark: the system's choice until the button is pressed
    function stored(value) {
        try {
            if (value) {
                localStorage.setItem("heed-theme", value);
            }
            return localStorage.getItem("heed-theme");
        } catch (e) {
            return null;
        }
    }
    function dark() {
        const chosen = document.documentElement.dataset.theme;
        return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    }
    // ---- the search
    // How well an entry [name, address, text, other words, words of its section] fits the words; 0: not at all.
    function score(entry, words) {
        const name = entry[0].toLowerCase(), bare = name.replace(/^hd_/, "");
        const all = (name + " " + entry[2] + " " + entry[3]).toLowerCase(), section = " " + (entry[4] || "");
        let sum = 0;
        for (const word of words) {
            const inSection = section.includes(" " + word); // a word of the section begins with it
            if (!all.includes(word) && !inSection) {
                return 0;
            }
            if (name === word || bare === word) {
                sum += 100;
            } else if (name.startsWith(word) || bare.startsWith(word)) {
                sum += 50;
            } else if (name.includes(word)) {
                sum += 30;
            } else if (entry[3].toLowerCase().includes(word)) {
                sum += 20;
            } else if (inSection) {
                sum += 6;
            } else {
                sum += 5;
            }
        }
        return sum - name.length / 100;
    }
    function find(text) {
        const words = text.toLowerCase().replace(/\b(torch\.|nn\.|functional\.|f\.)+/g, "").split(/[\s()]+/).filter(Boolean);
        if (!words.length) {
            return [];
        }
        return names.map(e => [score(e, words), e]).filter(p => p[0] > 0).sort((a, b) => b[0] - a[0]).slice(0, most)
            .map(p => p[1]);
    }

    // The list of pages shows the page at hand.
    const nav = document.getElementById("site-pages"), here = nav.querySelector("[aria-current]");
    if (here && nav.scrollHeight > nav.clientHeight) {
        nav.scrollTop = here.offsetTop - nav.clientHeight / 2;
    }

    const input = document.createElement("input");
    input.type = "search";
    input.placeholder = "Search ( / )";
    input.autocomplete = "off";
    input.spellcheck = false;
    for (const [key, value] of Object.entries({"aria-label": "Search names and guides", role: "combobox", "aria-expanded": "false",
        "aria-controls": "site-found", "aria-autocomplete": "list"})) {
        input.setAttribute(key, value);
    }
    const list = document.createElement("ul");
    list.id = "site-found";
    list.hidden = true;
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Found");
    let chosen = -1;

    function choose(i) {
        const items = list.querySelectorAll("[role=option]");
        chosen = items.length ? (i + items.length) % items.length : -1;
        items.forEach((item, k) => item.setAttribute("aria-selected", String(k === chosen)));
        if (chosen >= 0) {
            input.setAttribute("aria-activedescendant", items[chosen].id);
            items[chosen].scrollIntoView({block: "nearest"});
        }
    }
    function show() {
        const found = find(input.value);
        list.textContent = "";
        found.forEach((entry, i) => {
            const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("span");
            item.id = "site-found-" + i;
            item.setAttribute("role", "option");
            link.href = entry[1];
            link.tabIndex = -1;
            link.textContent = entry[0];
            text.textContent = entry[2];
            link.append(text);
            item.append(link);
            list.append(item);
        });
        if (!found.length && input.value.trim()) {
            const none = document.createElement("p");
            none.innerHTML = "No name and no guide has these words. " +
                '<a href="differences.html#what-heed-does-not-have">What heed does not have</a> says what to do instead.';
            list.append(none);
        }
        list.hidden = !input.value.trim();
        input.setAttribute("aria-expanded", String(!list.hidden));
        choose(0);
    }
    function close() {
        list.hidden = true;
        input.setAttribute("aria-expanded", "false");
    }
    input.addEventListener("input", show);
    input.addEventListener("focus", () => input.value.trim() && show());
    input.addEventListener("keydown", event => {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
        } else if (event.key === "Enter" && chosen >= 0) {
            list.querySelectorAll("a")[chosen].click();
            close();
        } else if (event.key === "Escape") {
            close();
        }
    });
    document.addEventListener("keydown", event => {
        if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
            event.preventDefault();
            input.focus();
        }
    });
    document.addEventListener("click", event => tools.contains(event.target) || close());

    const theme = document.createElement("button");
    theme.type = "button";
    function label() {
        theme.textContent = dark() ? "Light" : "Dark";
        theme.setAttribute("aria-label", dark() ? "Use light colours" : "Use dark colours");
    }
    theme.addEventListener("click", () => {
        document.documentElement.dataset.theme = dark() ? "light" : "dark";
        stored(document.documentElement.dataset.theme);
        label();
    });
    label();
    tools.append(input, list, theme);
}());
