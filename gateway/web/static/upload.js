// Uploads files by the API's own protocol (docs/uploads.md): create, PUT the parts, complete.
"use strict";

const PART = 8 * 1024 * 1024;
const LOST = "The connection was lost.";

async function digest(blob) {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", await blob.arrayBuffer()));
  return btoa(String.fromCharCode(...bytes));
}

async function call(path, body) {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(`/api/files${path}`, { method: "POST", headers, body: JSON.stringify(body) }).catch(() => {
    throw new Error(LOST);
  });
  // A proxy that has no gateway to ask answers with a page of its own.
  const content = await answer.json().catch(() => {
    throw new Error("The server cannot be reached. Try again.");
  });
  if (!answer.ok) {
    const { detail } = content;
    if (detail[0].loc?.includes("mime_type")) throw new Error("This is not a picture that pages can show. Choose a PNG or a JPEG, for example.");
    // The page names the file; the name of the field, which programs need, says nothing to its reader.
    throw new Error(typeof detail === "string" ? detail : detail[0].msg.replace(/^`[^`]*`: /, ""));
  }
  return content;
}

async function planned(file) {
  const parts = [];
  for (let start = 0, number = 1; start < file.size; start += PART, number += 1) {
    const end = Math.min(start + PART, file.size);
    const part = { number, chunk_start: start, chunk_end: end };
    // Browsers compute digests only on secure pages; the server verifies those that it gets.
    if (crypto.subtle) {
      part.checksum_sha256_base64 = await digest(file.slice(start, end));
    }
    parts.push(part);
  }
  return parts;
}

// fetch does not report how much of a body was sent.
function put(file, part, report) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", part.url);
    for (const [name, value] of Object.entries(part.headers)) {
      request.setRequestHeader(name, value);
    }
    request.upload.addEventListener("progress", (event) => report(part.chunk_start + event.loaded));
    request.addEventListener("load", () => {
      if (request.status < 300) {
        resolve(request.getResponseHeader("ETag"));
      } else {
        reject(new Error(`The file could not be stored (${request.status}). Try again.`));
      }
    });
    request.addEventListener("error", () => reject(new Error(LOST)));
    request.send(file.slice(part.chunk_start, part.chunk_end));
  });
}

async function upload(file, service, workspace, report) {
  const made = await call("/", {
    service,
    name: file.name,
    mime_type: file.type || "application/octet-stream",
    size: file.size,
    workspace_id: workspace,
    upload: { parts: await planned(file) },
  });
  const parts = [];
  for (const part of made.upload.parts) {
    const { number, checksum_sha256_base64 } = part;
    parts.push({ number, checksum_sha256_base64, checksum_etag: await put(file, part, report) });
  }
  return call(`/${made.id}/uploaded`, { id: made.upload.id, path: made.path, parts });
}

function choose(field, made) {
  const item = document.createElement("li");
  const label = document.createElement("label");
  const box = document.createElement("input");
  // A field for one file keeps its address, one for several their ids.
  const isOne = "one" in field.dataset;
  const value = isOne ? made.public_url : made.id;
  Object.assign(box, { type: isOne ? "radio" : "checkbox", name: field.dataset.name, value, checked: true });
  const text = document.createElement("span");
  text.textContent = made.name;
  label.append(box);
  if (made.public_url) {
    const image = document.createElement("img");
    Object.assign(image, { src: made.public_url, alt: "", width: 56, height: 56, className: "thumb" });
    label.append(image);
  }
  label.append(text);
  item.append(label);
  field.querySelector(".offered").append(item);
}

async function take(field, file) {
  const item = document.createElement("li");
  const text = document.createElement("span");
  const bar = document.createElement("progress");
  text.textContent = file.name;
  Object.assign(bar, { max: file.size || 1, value: 0 });
  bar.setAttribute("aria-label", file.name);
  item.append(text, bar);
  field.querySelector("[data-progress]").append(item);
  try {
    const service = field.querySelector("[data-service]")?.value ?? field.dataset.upload;
    const made = await upload(file, service, field.dataset.workspace, (sent) => {
      bar.value = sent;
    });
    bar.value = bar.max;
    if (field.dataset.name) {
      choose(field, made);
      item.remove();
    } else {
      text.textContent = `${file.name} is uploaded.`;
      bar.remove();
    }
    return true;
  } catch (error) {
    bar.remove();
    item.className = "error";
    text.textContent = `${file.name}: ${error.message}`;
    return false;
  }
}

for (const field of document.querySelectorAll("[data-upload]")) {
  const drop = field.querySelector("[data-drop]");
  const input = drop.querySelector("input");
  const button = field.closest("form")?.querySelector("button.primary");
  const takeAll = async (files) => {
    let done = true;
    if (button) {
      button.disabled = true;
    }
    for (const file of files) {
      done = (await take(field, file)) && done;
    }
    if (button) {
      button.disabled = false;
    }
    if (done && field.dataset.then) {
      location.assign(field.dataset.then);
    }
  };
  drop.hidden = false;
  input.addEventListener("change", async () => {
    await takeAll([...input.files]);
    input.value = "";
  });
  for (const name of ["dragover", "dragleave", "drop"]) {
    field.addEventListener(name, (event) => {
      event.preventDefault();
      field.classList.toggle("over", name === "dragover");
    });
  }
  field.addEventListener("drop", (event) => takeAll([...event.dataTransfer.files]));
}
