// The token field: kept while the tab is open, in this tab only.
"use strict";

{
  const key = "duograph.token";
  const field = document.getElementById("token");
  field.value = sessionStorage.getItem(key) ?? "";
  field.addEventListener("input", () => {
    const token = field.value.trim().replace(/^bearer\s+/i, "");
    if (token !== field.value) field.value = token;
    sessionStorage.setItem(key, token);
  });
}
