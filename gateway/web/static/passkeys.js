// Passkeys: a form with data-passkey has the browser create or use a passkey, and sends its answer.
"use strict";

{
  const toBytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));

  const toText = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  // In the JSON, bytes are base64url.
  const readOptions = (json) => {
    const options = JSON.parse(json);
    options.challenge = toBytes(options.challenge);
    if (options.user) options.user.id = toBytes(options.user.id);
    for (const list of [options.excludeCredentials, options.allowCredentials]) {
      for (const credential of list ?? []) credential.id = toBytes(credential.id);
    }
    return options;
  };

  const asJson = (credential) => {
    const answer = credential.response;
    const response = { clientDataJSON: toText(answer.clientDataJSON) };
    if (answer.attestationObject) {
      response.attestationObject = toText(answer.attestationObject);
      response.transports = answer.getTransports?.() ?? [];
    } else {
      response.authenticatorData = toText(answer.authenticatorData);
      response.signature = toText(answer.signature);
      if (answer.userHandle) response.userHandle = toText(answer.userHandle);
    }
    return JSON.stringify({ id: credential.id, rawId: toText(credential.rawId), type: credential.type, response });
  };

  const messages = {
    InvalidStateError: "This device already keeps a passkey for your account.",
    NotAllowedError: "That was cancelled or took too long. Try again.",
    "": "The browser could not use a passkey. Try again.",
  };

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    if (!window.PublicKeyCredential) continue;
    form.hidden = false;
    const words = { ...messages, ...JSON.parse(form.dataset.words ?? "{}") };
    const error = form.querySelector("[data-passkey-error]");
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      error.hidden = true;
      try {
        const publicKey = readOptions(form.dataset.options);
        const credential = await navigator.credentials[form.dataset.passkey]({ publicKey });
        form.querySelector("[data-passkey-answer]").value = asJson(credential);
        form.submit();
      } catch (reason) {
        error.textContent = words[reason.name] ?? words[""];
        error.hidden = false;
      }
    });
  }
}
