// Asks before a page with a form that was changed and not sent is left.
"use strict";

for (const form of document.querySelectorAll("form[data-unsaved]")) {
  const written = () => new URLSearchParams([...new FormData(form)].filter(([, value]) => typeof value === "string")).toString();
  // What a refused form shows was never saved.
  const saved = form.querySelector("[aria-invalid]") ? null : written();
  let isSent = false;
  form.addEventListener("submit", () => {
    isSent = true;
  });
  addEventListener("beforeunload", (event) => {
    if (!isSent && written() !== saved) event.preventDefault();
  });
  // The browser may show the page again as it was left.
  addEventListener("pageshow", () => {
    isSent = false;
  });
}
