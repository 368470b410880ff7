"use strict";

const tokenPath = "/api/authentication/access_token";
const introduction = "/docs/parts/introduction.json";

// The page asks for tokens as OAuth 2.0 says. The server also wants auth_chain,
// and the client's credentials in the form.
function completeTokenRequest(request) {
  if (new URL(request.url, location.href).pathname !== tokenPath) {
    return request;
  }
  const form = new URLSearchParams(request.body);
  if (!form.has("auth_chain")) {
    form.set("auth_chain", "OAuthLdapService");
  }
  const [scheme, credentials] = (request.headers.Authorization || "").split(" ");
  if (scheme === "Basic") {
    const [id, ...secret] = atob(credentials).split(":");
    form.set("client_id", id);
    form.set("client_secret", secret.join(":"));
    delete request.headers.Authorization;
  }
  request.body = form.toString();
  return request;
}

function element(name, attributes, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

// address returns the fragment that names a tag, or an operation of it.
function address(tag, operation) {
  return "#/" + encodeURIComponent(tag.name) + (operation ? "/" + operation.id : "");
}

// showGroups lists the tags of each domain.
function showGroups(index) {
  const groups = Map.groupBy(index, (tag) => tag.group);
  document.querySelector("#groups").append(...[...groups].map(([name, tags]) =>
    element("details", { open: true }, element("summary", {}, name), element("ul", {}, ...tags.map((tag) =>
      element("li", {}, element("a", { href: address(tag), title: tag.description }, tag.name.split(": ")[1])))))));
}

// showResults lists the operations that a search has found.
function showResults(search) {
  const text = document.querySelector("#search").value;
  const found = text.trim() ? search(text) : [];
  document.querySelector("#results").replaceChildren(...found.map(({ tag, operation }) =>
    element("li", {}, element("a", { href: address(tag, operation) }, operation.summary),
      element("small", {}, operation.verb + " " + operation.path))));
  document.querySelector("#found").textContent = text.trim() ? found.length + (found.length === 1 ? " operation" : " operations") : "";
}

// partOf returns the address of the part of a tag.
function partOf(name) {
  return "/docs/parts/" + name.toLowerCase().replace(/[^a-z0-9]+/g, "-") + ".json";
}

// wanted returns the tag and the operation that the fragment of the address names.
function wanted() {
  const [, name, id] = location.hash.split("/").map(decodeURIComponent);
  return { name, id };
}

// load shows a part of the description. The first part need not wait for the index.
let loaded = wanted().name ? partOf(wanted().name) : introduction;
function load(part) {
  if (part === loaded) {
    return Promise.resolve();
  }
  loaded = part;
  ui.specActions.updateUrl(part);
  return ui.specActions.download(part);
}

// until waits until the page has an element.
function until(selector) {
  return new Promise((resolve) => {
    const look = () => document.querySelector(selector);
    if (look()) {
      resolve(look());
      return;
    }
    const observer = new MutationObserver(() => {
      if (look()) {
        observer.disconnect();
        resolve(look());
      }
    });
    observer.observe(document.querySelector("#docs"), { childList: true, subtree: true });
  });
}

// follow shows the tag or the operation that the fragment of the address names.
async function follow(index) {
  const { name, id } = wanted();
  const tag = index.find((one) => one.name === name);
  document.querySelectorAll("#groups [aria-current]").forEach((link) => link.removeAttribute("aria-current"));
  if (!tag) {
    await load(introduction);
    return;
  }
  document.querySelector(`#groups a[href="${address(tag)}"]`).setAttribute("aria-current", "true");
  await load(tag.part);
  const operation = tag.operations.find((one) => one.id === id);
  if (!operation) {
    return;
  }
  ui.layoutActions.show(["operations", tag.name, id], true);
  const shown = await until(`.opblock:has([data-path="${operation.path}"]).opblock-${operation.verb.toLowerCase()} .opblock-summary-control`);
  shown.scrollIntoView();
  shown.focus({ preventScroll: true });
}

// keepFocus returns the focus to the log-in when its dialog replaces or removes the element that had it.
function keepFocus() {
  let wasOpen = false;
  new MutationObserver(() => {
    const dialog = document.querySelector(".dialog-ux .modal-ux");
    if (dialog && document.activeElement === document.body) {
      (dialog.querySelector("input") || dialog.querySelector(".btn-done") || dialog.querySelector("button")).focus();
    }
    if (!dialog && wasOpen) {
      document.querySelector(".auth-wrapper .authorize").focus();
    }
    wasOpen = Boolean(dialog);
  }).observe(document.querySelector("#docs"), { childList: true, subtree: true });
}

window.ui = SwaggerUIBundle({
  url: loaded,
  dom_id: "#docs",
  deepLinking: false,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  validatorUrl: null,
  requestInterceptor: completeTokenRequest,
});
keepFocus();

fetch("/docs/parts/index.json").then((response) => response.json()).then((index) => {
  // Most readers open an operation and do not search.
  let made;
  const search = (text) => (made ??= newSearch(index))(text);
  showGroups(index);
  document.querySelector("#search").addEventListener("input", () => showResults(search));
  showResults(search);
  addEventListener("hashchange", () => follow(index));
  return follow(index);
});
