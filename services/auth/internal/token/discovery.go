package token

import (
	"context"
	"net"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// maxHost is the longest DNS host name with a port.
const maxHost = 253 + len(":65535")

// GetOpenIDConfiguration returns the endpoints for issuing, revoking and verifying tokens.
func (h *Handler) GetOpenIDConfiguration(ctx context.Context, _ *authv1.GetOpenIDConfigurationRequest) (*authv1.GetOpenIDConfigurationResponse, error) {
	base := strings.TrimSuffix(h.cfg.PublicURL, "/")
	if base == "" {
		var err error
		if base, err = h.calledURL(ctx); err != nil {
			return nil, err
		}
	}
	base += "/api/authentication"
	secretInForm := []string{"client_secret_post"}
	return &authv1.GetOpenIDConfigurationResponse{
		Issuer:                                 h.cfg.Issuer,
		TokenEndpoint:                          base + "/access_token",
		RevocationEndpoint:                     base + "/token/revoke",
		JwksUri:                                base + "/.well-known/jwks.json",
		ScopesSupported:                        h.Scopes.Supported(),
		ResponseTypesSupported:                 []string{"none"},
		GrantTypesSupported:                    h.cfg.grants(),
		SubjectTypesSupported:                  []string{"public"},
		IdTokenSigningAlgValuesSupported:       []string{string(jose.EdDSA)},
		TokenEndpointAuthMethodsSupported:      secretInForm,
		RevocationEndpointAuthMethodsSupported: secretInForm,
		ClaimsSupported:                        []string{"iss", "sub", "aud", "exp", "iat", "nonce"},
	}, nil
}

// calledURL returns the URL that the caller used for this server. Responses contain it and a cache may store
// them, so callers must not choose it freely: it must be the host name of a tenant, or this machine.
func (h *Handler) calledURL(ctx context.Context) (string, error) {
	authority := forwardedHost(ctx)
	if !isAuthority(authority) {
		return "", fault.Invalid(fault.CodeBadRequest, "The request has no valid Host header. Use the host name of the server.")
	}
	host := strings.Trim(callerHost(ctx), "[]")
	if ip := net.ParseIP(host); strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback() {
		return "https://" + authority, nil
	}
	n, err := h.resolveHost(ctx)
	if err != nil {
		return "", err
	}
	if !n.own {
		return "", fault.Invalid(fault.CodeBadRequest, "No tenant has this host name. Use a tenant's host name, or ask the operator to set --public-url.")
	}
	return "https://" + authority, nil
}

// isAuthority reports whether text is a host name or address with an optional port. Responses contain the text,
// so nothing else is permitted.
func isAuthority(text string) bool {
	if text == "" || len(text) > maxHost {
		return false
	}
	for _, c := range []byte(text) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte(".-:[]", c) >= 0:
		default:
			return false
		}
	}
	return true
}
