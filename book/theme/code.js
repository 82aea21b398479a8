// Shows file names above blocks, wraps commands, keeps the words of inline code whole, and helps people who use a
// keyboard or a screen reader.
(function () {
    "use strict";
    // ```toml,file=method.toml: mdBook makes the words after the language classes of the code element.
    for (const code of document.querySelectorAll('pre > code[class*="file="]')) {
        const name = /(?:^|[\s,])file=([^\s,]+)/.exec(code.className);
        if (!name) {
            continue;
        }
        const caption = document.createElement("div");
        caption.className = "file-name";
        caption.textContent = name[1];
        const pre = code.closest("pre");
        const block = pre.closest(".playground") || pre;
        block.before(caption);
    }

    // Browsers break `--class` after the hyphens. Words that fit on a narrow screen stay whole.
    const inWords = (text) => {
        const parts = document.createDocumentFragment();
        for (const word of text.split(/(\s+)/)) {
            if (word.trim() === "" || word.length > 28) {
                parts.append(word);
                continue;
            }
            const span = document.createElement("span");
            span.className = "word";
            span.textContent = word;
            parts.append(span);
        }
        return parts;
    };

    // A wrapped line is indented, so that the next command is easy to find. Output with a table scrolls instead.
    const command = /^(?:mustlink|python|cargo|pip|git) /;
    for (const code of document.querySelectorAll("pre > code.language-console, pre > code.language-text")) {
        const text = code.textContent.replace(/\n$/, "");
        const lines = text.split("\n");
        const isConsole = code.classList.contains("language-console");
        const wraps = isConsole ? !text.includes("───") : lines.every((line) => command.test(line));
        if (!isConsole && !wraps) {
            continue;
        }
        code.textContent = "";
        for (const line of lines) {
            const span = document.createElement("span");
            span.className = isConsole && line.startsWith("$ ") ? "line typed" : "line";
            span.append(wraps ? inWords(line) : line);
            code.append(span, "\n");
        }
        code.classList.toggle("wraps", wraps);
    }

    for (const code of document.querySelectorAll(".content :not(pre) > code")) {
        if (code.childElementCount === 0) {
            code.replaceChildren(inWords(code.textContent));
        }
    }
    // Highlighted commands consist of elements already.
    for (const code of document.querySelectorAll(".content pre > code.language-sh")) {
        const texts = [];
        const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            texts.push(walker.currentNode);
        }
        texts.forEach((text) => text.replaceWith(inWords(text.data)));
    }

    // The switch of the sidebar is a label, which keyboards do not reach and which cannot have the states of a button.
    const label = document.getElementById("mdbook-sidebar-toggle");
    const shown = document.getElementById("mdbook-sidebar-toggle-anchor");
    const button = document.createElement("button");
    button.type = "button";
    button.className = label.className;
    button.title = label.title;
    button.setAttribute("aria-label", label.title);
    button.setAttribute("aria-controls", "mdbook-sidebar");
    button.append(...label.childNodes);
    button.addEventListener("click", () => label.click());
    const showState = () => button.setAttribute("aria-expanded", String(shown.checked));
    shown.addEventListener("change", showState);
    showState();
    label.before(button);
    label.style.display = "none";
    document.getElementById("mdbook-menu-bar").setAttribute("role", "banner");

    // Markdown has no table without a cell at the top left; an empty one is not a header.
    for (const header of document.querySelectorAll(".content th:empty")) {
        header.replaceWith(document.createElement("td"));
    }

    // A number stays on one line with its error or its interval.
    for (const cell of document.querySelectorAll(".content td")) {
        const isNumber = /^[-−+±–(]?[\d.]([\d\s.,%±×()+−-]| of )*$/.test(cell.textContent);
        cell.classList.toggle("number", isNumber && cell.textContent.length <= 24);
    }

    // Tables of many columns get narrow margins.
    for (const row of document.querySelectorAll(".content thead tr")) {
        row.closest("table").classList.toggle("wide", row.cells.length > 7);
    }

    // Blocks that scroll can be scrolled with the arrow keys.
    const scrolling = () => {
        for (const block of document.querySelectorAll(".content .table-wrapper, .content pre > code")) {
            if (block.scrollWidth > block.clientWidth) {
                block.tabIndex = 0;
            } else {
                block.removeAttribute("tabindex");
            }
        }
    };
    scrolling();
    window.addEventListener("resize", scrolling);
})();
