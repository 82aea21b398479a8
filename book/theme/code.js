// Shows file names above blocks, wraps commands, and keeps the words of inline code whole.
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
            span.textContent = line;
            code.append(span, "\n");
        }
        code.classList.toggle("wraps", wraps);
    }

    // Browsers break `--class` after the hyphens. Words that fit on a narrow screen stay whole.
    for (const code of document.querySelectorAll(".content :not(pre) > code")) {
        if (code.childElementCount > 0) {
            continue;
        }
        const words = code.textContent.split(/(\s+)/);
        code.textContent = "";
        for (const word of words) {
            if (word.trim() === "" || word.length > 28) {
                code.append(word);
                continue;
            }
            const span = document.createElement("span");
            span.className = "word";
            span.textContent = word;
            code.append(span);
        }
    }
})();
