// Package token issues access tokens with OAuth 2.0, and publishes the keys that verify them.
package token

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

const (
	grantPassword = "password"
	grantRefresh  = "refresh_token"
	grantClient   = "client_credentials"
	// authChain is the only chain of user stores.
	authChain = "OAuthLdapService"
	// maxField is the largest field of the form, in bytes.
	maxField = 4096
	// maxScope is the longest scope, in bytes. Tokens contain the scope.
	maxScope = 1000
)

// The errors of RFC 6749, section 5.2.
func invalidRequest(message string) *fault.Error {
	return fault.Invalid(fault.CodeBadRequest, message).WithOAuth("invalid_request")
}

func unsupportedGrant(grant string) *fault.Error {
	return fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("The grant_type %q is not supported.", grant)).
		WithOAuth("unsupported_grant_type")
}

func invalidClient() *fault.Error {
	return fault.New(fault.CodeUnauthenticated, http.StatusUnauthorized, "The client is unknown, or its secret is wrong.").
		WithOAuth("invalid_client")
}

func unauthorizedClient() *fault.Error {
	return fault.Invalid(fault.CodeBadRequest, "The client may not use this grant_type.").WithOAuth("unauthorized_client")
}

// invalidGrant returns the same error for a wrong password and for an unknown user.
func invalidGrant() *fault.Error {
	return fault.Invalid(fault.CodeBadRequest, "The supplied credentials or grant are not valid.").WithOAuth("invalid_grant")
}

// invalidScope returns the error for a scope without any grantable permission.
func invalidScope() *fault.Error {
	return fault.Invalid(fault.CodeBadRequest, "The requested scope is unknown, or the client may use none of it.").
		WithOAuth("invalid_scope")
}

// notOwned returns the error for a token of another client, in the form of RFC 6749.
func notOwned() *fault.Error {
	return fault.Invalid(fault.CodeBadRequest, "The token was issued to another client.").WithOAuth("invalid_grant")
}

// check refuses a form that does not match a grant or lacks required fields.
func (c Config) check(req *authv1.IssueTokenRequest) error {
	grant := req.GetGrantType()
	switch {
	case grant == "":
		return invalidRequest("The field grant_type is missing.")
	case len(grant) > 100:
		return invalidRequest("The field grant_type is too long.")
	case !slices.Contains(c.grants(), grant):
		return unsupportedGrant(grant)
	}
	fields := []field{{"client_id", req.GetClientId()}, {"client_secret", req.GetClientSecret()}}
	switch grant {
	case grantPassword:
		fields = append(fields, field{"username", req.GetUsername()}, field{"password", req.GetPassword()})
	case grantRefresh:
		fields = append(fields, field{"refresh_token", req.GetRefreshToken()})
	}
	if err := checkFields(fields); err != nil {
		return err
	}
	if len(req.GetNonce()) > maxField {
		return invalidRequest("The field nonce is too long.")
	}
	if len(req.GetScope()) > maxScope || strings.ContainsRune(req.GetScope(), 0) {
		return invalidRequest("The field scope is too long, or contains the character U+0000.")
	}
	return c.checkChain(req)
}

// checkChain refuses a request without a chain or with an unknown one. The client credentials grant needs no
// user store, and log-ins with the tenant in the path have no such field, so both may omit it.
func (c Config) checkChain(req *authv1.IssueTokenRequest) error {
	switch chain := cmp.Or(req.GetAuthChain(), c.DefaultAuthChain); {
	case chain == authChain:
		return nil
	case chain != "":
		return invalidRequest("The field auth_chain must be " + authChain + ".")
	case req.GetGrantType() == grantClient || req.GetTenant() != "":
		return nil
	}
	return invalidRequest("The field auth_chain is missing. Send auth_chain=" + authChain + ".")
}

// field is a required field of a form.
type field struct{ name, value string }

func checkFields(fields []field) error {
	for _, f := range fields {
		if f.value == "" {
			return invalidRequest("The field " + f.name + " is missing.")
		}
		if len(f.value) > maxField {
			return invalidRequest("The field " + f.name + " is too long.")
		}
		if strings.ContainsRune(f.value, 0) {
			return invalidRequest("The field " + f.name + " contains the character U+0000.")
		}
	}
	return nil
}
