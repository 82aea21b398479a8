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
  // What is wider than the screen says so, and names of rows stay in place.
  var wide = all(document, ".scroll");
  var measure = function () {
    wide.forEach(function (e) { e.classList.toggle("more", e.scrollWidth > e.clientWidth + 1); });
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
  // The SVG of a figure is saved from the page itself, which may have come by mail.
  all(document, "a.svg").forEach(function (link) {
    link.addEventListener("click", function () {
      var svg = link.closest("figure").querySelector("svg").cloneNode(true);
      all(svg, ".rows").forEach(function (g) { g.removeAttribute("transform"); });
      var text = new XMLSerializer().serializeToString(svg);
      link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    });
  });
  var closed = [];
  window.addEventListener("beforeprint", function () {
    closed = all(document, "details:not([open]):not(.screen):not(.fold)");
    closed.forEach(function (d) { d.open = true; });
  });
  window.addEventListener("afterprint", function () { closed.forEach(function (d) { d.open = false; }); });
})();
