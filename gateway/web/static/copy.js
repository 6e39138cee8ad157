// Copy buttons: shown only where the browser gives this page a clipboard.
"use strict";

window.duographCopies = (root) => {
  if (!navigator.clipboard) return;
  const status = document.getElementById("copied");
  for (const button of root.querySelectorAll("button:is([data-copy], [data-copy-text])")) {
    const { copy } = button.dataset;
    const source = copy ? document.getElementById(copy) : button.parentElement.querySelector("code");
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
        status.textContent = "Copied to the clipboard.";
      } catch {
        // Without permission the text is selected instead, so that the keyboard can copy it.
        getSelection().selectAllChildren(source);
        status.textContent = "Selected: copy it with the keyboard.";
      }
      setTimeout(() => {
        button.textContent = label;
        status.textContent = "";
      }, 2000);
    });
  }
};
// The dashboard, which replaces its parts, asks for this itself.
if (!document.getElementById("dashboard")) window.duographCopies(document);
