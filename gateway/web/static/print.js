// Print buttons: shown only where there is JavaScript to answer them.
"use strict";

for (const button of document.querySelectorAll("button[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
