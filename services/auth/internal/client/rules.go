// Package client stores OAuth clients: applications that users log in with, or that work on their own.
package client

import (
	"fmt"
	"regexp"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/scopes"
)

const (
	// maxScopes is the largest number of scopes of a client. Tokens contain the scopes.
	maxScopes = 50
	// maxProfile is the longest name of an access profile, in bytes.
	maxProfile = 1000
	// maxClients is the largest number of clients of a tenant: 1,000 programs, and one for each of the 10,000
	// devices that a tenant may have.
	maxClients = 11_000
)

var idForm = regexp.MustCompile(`^[A-Za-z0-9._~-]{1,100}$`)

// settings are the stored properties of a client.
type settings struct {
	ID                                                string
	Enabled, PasswordGrant, RefreshGrant, ClientGrant bool
	Profile                                           string
	Scopes                                            []string
	Version                                           int64
}

// read validates a client from a request.
func read(id string, sent *authv1.Client, catalog *scopes.Catalog) (settings, error) {
	s := settings{
		ID: id, Enabled: trueUnless(sent.GetEnabled(), sent == nil || sent.Enabled == nil),
		PasswordGrant: trueUnless(sent.GetPasswordGrant(), sent == nil || sent.PasswordGrant == nil),
		RefreshGrant:  trueUnless(sent.GetRefreshGrant(), sent == nil || sent.RefreshGrant == nil),
		ClientGrant:   sent.GetClientGrant(), Profile: sent.GetAccessProfile(), Scopes: []string{},
	}
	switch {
	case !idForm.MatchString(id):
		return s, fault.Invalid(fault.CodeBadRequest, "clientId must have 1 to 100 characters out of letters, digits and -._~.")
	case sent.GetClientSecret() != "":
		return s, fault.Invalid(fault.CodeBadRequest, "The server generates clientSecret. Leave it out.")
	case len(s.Profile) > maxProfile:
		return s, fault.Invalid(fault.CodeBadRequest, "accessProfile is too long. Use the name of an existing access profile.")
	case s.ClientGrant && s.Profile == "":
		return s, fault.Invalid(fault.CodeBadRequest, "A client with clientGrant needs an accessProfile.")
	case len(sent.GetScopes()) > maxScopes:
		return s, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("scopes has more than the allowed %d elements. Use patterns.", maxScopes))
	}
	for i, scope := range sent.GetScopes() {
		if !catalog.IsKnown(scope) {
			return s, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("scopes[%d] is neither a permission, nor a pattern or a group of permissions.", i))
		}
		s.Scopes = append(s.Scopes, scope)
	}
	return s, nil
}

func trueUnless(value, absent bool) bool { return value || absent }

// revokesAccess reports whether tokens issued under the settings before permit something that the settings
// after do not.
func revokesAccess(before, after settings, catalog *scopes.Catalog) bool {
	return before.Enabled && !after.Enabled || before.RefreshGrant && !after.RefreshGrant ||
		before.PasswordGrant && !after.PasswordGrant || catalog.Narrows(before.Scopes, after.Scopes)
}

// response returns the client for a response. secret is "" except after it was created.
func (s settings) response(secret string) *authv1.Client {
	return &authv1.Client{
		ClientId: s.ID, ClientSecret: secret,
		Enabled: proto.Bool(s.Enabled), PasswordGrant: proto.Bool(s.PasswordGrant),
		RefreshGrant: proto.Bool(s.RefreshGrant), ClientGrant: proto.Bool(s.ClientGrant),
		AccessProfile: s.Profile, Scopes: s.Scopes,
	}
}
