// Forms of records: fields that mean nothing with the chosen kind are hidden. Without JavaScript all are shown.
"use strict";

for (const part of document.querySelectorAll("[data-when]")) {
  const control = part.querySelector("[name]");
  const kind = document.getElementById(control.name.replace(/[^.]+$/, part.dataset.when));
  const values = part.dataset.values.split(" ");
  const show = () => {
    part.hidden = !values.includes(kind.value);
  };
  kind.addEventListener("change", show);
  show();
}
