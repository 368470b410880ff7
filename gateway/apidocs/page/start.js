"use strict";

const tokenPath = "/api/authentication/access_token";

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

window.ui = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  requestInterceptor: completeTokenRequest,
});
