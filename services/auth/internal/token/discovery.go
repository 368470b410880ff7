package token

import (
	"context"
	"net"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// maxHost is the longest name that a host has in the DNS, with a port.
const maxHost = 253 + len(":65535")

// GetOpenIDConfiguration says where tokens are issued, revoked and verified.
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

// calledURL returns the URL by which the caller reached us. It is shown to whoever asks,
// and may be kept by a cache between, so no caller chooses it: it must be the host name
// of a tenant, or this machine.
func (h *Handler) calledURL(ctx context.Context) (string, error) {
	authority := forwardedHost(ctx)
	if !isAuthority(authority) {
		return "", fault.Invalid(fault.CodeBadRequest, "The request names no host.")
	}
	host := strings.Trim(hostOf(ctx), "[]")
	if ip := net.ParseIP(host); strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback() {
		return "https://" + authority, nil
	}
	n, err := h.named(ctx)
	if err != nil {
		return "", err
	}
	if !n.own {
		return "", fault.Invalid(fault.CodeBadRequest, "No tenant has this host name. The operator says by --public-url where clients reach the server.")
	}
	return "https://" + authority, nil
}

// isAuthority reports whether text is a host name or address with an optional
// port. It ends up in a response, so it holds nothing else.
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
