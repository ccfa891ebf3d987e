/* What the pages need beyond the theme: keyboard access to what scrolls sideways, and unfolded answers on paper. */
"use strict";
(() => {
  // A region that scrolls must be reachable without a mouse; one that does not scroll should not cost a tab stop.
  const SCROLLERS = 'mjx-container[display="true"], .pst-scrollable-table-container, .table-wrapper, div.cell_output pre, div.highlight pre';

  const markScrollers = () => {
    for (const box of document.querySelectorAll(SCROLLERS)) {
      if (box.scrollWidth > box.clientWidth + 1) {
        box.tabIndex = 0;
      } else if (box.localName === "mjx-container") {
        box.removeAttribute("tabindex");
      }
    }
  };

  const ready = () => {
    markScrollers();
    window.MathJax?.startup?.promise?.then(markScrollers);
    let waiting = 0;
    addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(markScrollers, 150);
    });
  };
  if (document.readyState === "complete") ready();
  else addEventListener("load", ready);

  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details:not([open], .hide)")) {
      fold.open = true;
      fold.dataset.closed = "";
    }
  });
  addEventListener("afterprint", () => {
    for (const fold of document.querySelectorAll("details[data-closed]")) {
      fold.open = false;
      delete fold.dataset.closed;
    }
  });
})();
