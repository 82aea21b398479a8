"use strict";
(function () {
  var all = function (where, what) { return Array.prototype.slice.call(where.querySelectorAll(what)); };
  // A click on a heading sorts its table; another one turns the order.
  all(document, "table.sheet thead button").forEach(function (button) {
    button.addEventListener("click", function () {
      var head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
      var at = head.cellIndex, down = head.getAttribute("aria-sort") === "ascending";
      all(table, "thead th").forEach(function (th) { th.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      var key = function (row) {
        var cell = row.cells[at];
        var value = cell && cell.dataset.v;
        return value === undefined ? null : Number(value);
      };
      var numbers = all(body, "tr").some(function (row) { return key(row) !== null; });
      var rows = all(body, "tr").sort(function (a, b) {
        if (!numbers) {
          var order = a.cells[at].textContent.localeCompare(b.cells[at].textContent);
          return down ? -order : order;
        }
        var x = key(a), y = key(b);
        // Cells without a number come last in both orders.
        if (x === null || y === null) { return (x === null) - (y === null); }
        return down ? y - x : x - y;
      });
      rows.forEach(function (row) { body.appendChild(row); });
    });
  });
  // Methods are shown or not, in tables and figures alike.
  all(document, "input[data-toggle]").forEach(function (box) {
    var show = function () {
      all(document, "[data-m=\"" + box.dataset.toggle + "\"]").forEach(function (e) {
        if (box.checked) { e.removeAttribute("hidden"); } else { e.setAttribute("hidden", ""); }
      });
    };
    box.addEventListener("change", show);
    show();
  });
  // Rows are shown when they hold the text; a table without one is hidden whole, caption and note too.
  var filter = document.getElementById("filter"), said = document.getElementById("filtered");
  if (filter) {
    filter.addEventListener("input", function () {
      var text = filter.value.toLowerCase(), rows = 0, without = 0;
      all(document, ".table").forEach(function (table) {
        var mine = 0;
        all(table, "tbody tr").forEach(function (row) {
          var has = row.textContent.toLowerCase().indexOf(text) >= 0;
          row.style.display = has ? "" : "none";
          mine += has ? 1 : 0;
        });
        var fold = table.parentNode.nodeName === "DETAILS" ? table.parentNode : table;
        fold.style.display = mine ? "" : "none";
        rows += mine;
        without += mine ? 0 : 1;
      });
      said.textContent = text ? rows + " rows; " + without + " tables have none and are hidden" : "";
    });
  }
  // What is wider than the screen says so, can be scrolled with the keyboard, and names of rows stay in place.
  var wide = all(document, ".scroll");
  var measure = function () {
    wide.forEach(function (e) {
      var name = e.querySelector("caption, svg > title");
      if (e.classList.toggle("more", e.scrollWidth > e.clientWidth + 1)) {
        e.tabIndex = 0;
        e.setAttribute("role", "group");
        e.setAttribute("aria-label", name ? name.textContent : "scroll sideways");
      } else {
        ["tabindex", "role", "aria-label"].forEach(function (what) { e.removeAttribute(what); });
      }
    });
  };
  window.addEventListener("resize", measure);
  document.addEventListener("toggle", measure, true);
  measure();
  wide.forEach(function (e) {
    var names = all(e, "svg .rows");
    e.addEventListener("scroll", function () {
      names.forEach(function (g) { g.setAttribute("transform", "translate(" + e.scrollLeft + " 0)"); });
    });
  });
  // Files are saved from the page itself, which may have come by mail.
  var save = function (where, label, name, type, text) {
    var link = document.createElement("a");
    link.textContent = label;
    link.download = name;
    link.href = "#";
    link.addEventListener("click", function () {
      link.href = URL.createObjectURL(new Blob([text()], { type: type }));
    });
    if (where.textContent) { where.appendChild(document.createTextNode(" ")); }
    where.appendChild(link);
  };
  all(document, "details.file").forEach(function (file) {
    var pre = file.querySelector("pre"), bar = document.createElement("p");
    pre.tabIndex = 0;
    file.insertBefore(bar, pre);
    save(bar, "save " + pre.id, pre.id, "text/plain", function () { return pre.textContent; });
  });
  all(document, ":not(.small) > figure > figcaption").forEach(function (caption) {
    var figure = caption.parentNode, name = figure.dataset.files.split(" ")[0];
    save(caption, "save " + name, name, "image/svg+xml", function () {
      var svg = figure.querySelector("svg").cloneNode(true);
      all(svg, ".rows").forEach(function (g) { g.removeAttribute("transform"); });
      return new XMLSerializer().serializeToString(svg);
    });
  });
  // A cell of two methods is told with both names: above its column there may be a number alone.
  all(document, "figure[data-files^=pairs-] g > g").forEach(function (cell) {
    var title = document.createElementNS(cell.namespaceURI, "title");
    title.textContent = [cell.parentNode, cell].map(function (g) {
      return document.querySelector("[data-toggle=\"" + g.dataset.m + "\"]").parentNode.textContent.trim();
    }).join(" less ") + ": " + all(cell, "text").map(function (t) { return t.textContent; }).join(", ");
    cell.appendChild(title);
  });
  // Values of a figure: of the mark nearest to the pointer, or one after another with the arrow keys.
  var tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  document.body.appendChild(tip);
  document.documentElement.classList.add("script");
  var owner = null;
  var hide = function () { tip.style.display = "none"; };
  document.addEventListener("scroll", hide, true);
  all(document, "figure").forEach(function (figure) {
    var marks = all(figure, "svg title").map(function (t) { return t.parentNode; });
    marks = marks.filter(function (mark) { return mark.nodeName !== "svg"; });
    var at = -1, place = function (mark) { return mark.getBoundingClientRect(); };
    // The texts of all marks that cover each other here. Names that share a value follow it.
    var text = function (mark) {
      var middle = function (box) { return [(box.left + box.right) / 2, (box.top + box.bottom) / 2]; };
      var here = middle(place(mark)), names = {};
      marks.filter(function (other) {
        var box = place(other), there = middle(box);
        return box.width && Math.hypot(there[0] - here[0], there[1] - here[1]) < 2;
      }).forEach(function (other) {
        var whole = other.querySelector("title").textContent, end = whole.lastIndexOf(": ");
        var value = whole.slice(end + 1).trim();
        (names[value] = names[value] || []).push(whole.slice(0, Math.max(end, 0)));
      });
      return Object.keys(names).map(function (value) {
        var mine = names[value].filter(Boolean);
        return mine.length > 1 ? value + ": " + mine.join("; ") : mine.length ? mine[0] + ": " + value : value;
      }).join("\n");
    };
    var show = function (mark) {
      if (!mark) { return hide(); }
      owner = figure;
      tip.style.display = "block";
      var box = place(mark);
      tip.textContent = text(mark);
      // At the edge of the window the tip would be measured narrower than it can be.
      tip.style.left = 0;
      tip.style.left = Math.max(4, Math.min(box.right + 6, innerWidth - tip.offsetWidth - 8)) + "px";
      // Above the mark, or below it if there is more room.
      var above = box.top - tip.offsetHeight - 4, below = Math.min(box.bottom + 4, innerHeight - tip.offsetHeight - 4);
      tip.style.top = Math.max(4, above >= 4 ? above : below) + "px";
    };
    figure.addEventListener("mousemove", function (e) {
      var least = 24;
      at = -1;
      marks.forEach(function (mark, i) {
        var box = place(mark);
        var far = Math.hypot(Math.max(box.left - e.clientX, 0, e.clientX - box.right),
          Math.max(box.top - e.clientY, 0, e.clientY - box.bottom));
        if (box.width && far < least) { least = far; at = i; }
      });
      show(marks[at]);
    });
    // A figure that loses the focus to another one leaves the values of that one alone.
    var leave = function () { if (owner === figure) { hide(); } };
    figure.addEventListener("mouseleave", leave);
    figure.addEventListener("blur", leave);
    var small = figure.parentNode.className === "small";
    if (marks.length || small) { figure.tabIndex = 0; }
    var enlarge = function () {
      hide();
      if (small) { figure.classList.toggle("large"); figure.scrollIntoView({ block: "nearest" }); }
    };
    // A finger that touches a mark shows its values.
    var touch = false;
    figure.addEventListener("pointerdown", function (e) { touch = e.pointerType === "touch"; });
    figure.addEventListener("click", function () { if (!touch || at < 0) { enlarge(); } });
    figure.addEventListener("keydown", function (e) {
      var step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (e.target !== figure) { return; }
      if (e.key === "Enter") { enlarge(); }
      if (e.key === "Escape") { hide(); }
      if (!step || !marks.length) { return; }
      e.preventDefault();
      var before = tip.style.display === "block" && tip.textContent;
      do { at = (at + step + marks.length) % marks.length; }
      while (at && (!place(marks[at]).width || text(marks[at]) === before));
      show(marks[at]);
    });
  });
  var closed = [];
  window.addEventListener("beforeprint", function () {
    closed = all(document, "details:not([open]):not(.screen):not(.fold)");
    closed.forEach(function (d) { d.open = true; });
  });
  window.addEventListener("afterprint", function () { closed.forEach(function (d) { d.open = false; }); });
})();
