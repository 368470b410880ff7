// Package federation accepts tokens of identity providers that a tenant trusts, and stores the list of these
// providers.
package federation

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// Values of userMatch: the content of the claim that identifies the user.
const (
	matchUsername     = "USERNAME"
	matchPersonNumber = "PERSON_NUMBER"
)

const (
	// maxProviders is the largest number of providers of a tenant.
	maxProviders = 20
	// maxText is the longest name or claim, in bytes, and maxProfiles the largest number of profile mappings of
	// a provider.
	maxText     = 200
	maxIssuer   = 1000
	maxProfiles = 100
	defaultSkew = 60 * time.Second
	maxSkew     = 300 * time.Second
)

// asymmetric are the permitted signature algorithms. Algorithms with a shared secret are excluded, because the
// public key would be the secret.
var asymmetric = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// provider is an identity provider of a tenant.
type provider struct {
	tenantID     int64
	id           int64
	name         string
	issuer       string
	audience     string
	userClaim    string
	userMatch    string
	profileClaim string
	// profileNames are the access profiles for the profileValues.
	profileValues, profileNames []string
	algorithms                  []string
	skew                        time.Duration
	enabled                     bool
	version                     int64
}

func invalid(format string, args ...any) *fault.Error {
	return fault.Invalid(fault.CodeInput, fmt.Sprintf(format, args...))
}

// read validates the provider of a request and applies the defaults.
func (h *Handler) read(in *authv1.IdentityProvider) (*provider, error) {
	p := &provider{
		name: in.GetName(), issuer: in.GetIssuer(), audience: in.GetAudience(),
		userClaim: textOr(in.GetUserClaim(), "sub"), userMatch: textOr(in.GetUserMatch(), matchUsername),
		profileClaim: in.GetProfileClaim(), algorithms: in.GetAlgorithms(), skew: defaultSkew, enabled: true,
		profileValues: []string{}, profileNames: []string{},
	}
	if len(p.algorithms) == 0 {
		p.algorithms = []string{string(jose.RS256), string(jose.ES256)}
	}
	if in.ClockSkewSeconds != nil {
		p.skew = time.Duration(in.GetClockSkewSeconds()) * time.Second
	}
	if in.Enabled != nil {
		p.enabled = in.GetEnabled()
	}
	for _, m := range in.GetProfiles() {
		p.profileValues, p.profileNames = append(p.profileValues, m.GetValue()), append(p.profileNames, m.GetAccessProfile())
	}
	return p, h.check(p)
}

func (h *Handler) check(p *provider) error {
	for _, t := range []struct{ name, value string }{
		{"name", p.name}, {"audience", p.audience}, {"userClaim", p.userClaim},
	} {
		if !isText(t.value, maxText) {
			return invalid("%s needs a text of at most %d bytes.", t.name, maxText)
		}
	}
	if err := h.cfg.checkURL(p.issuer); err != nil || len(p.issuer) > maxIssuer {
		return invalid("issuer must be the https address in the claim \"iss\" of the provider's tokens, without query and fragment.").WithCause(err)
	}
	if p.userMatch != matchUsername && p.userMatch != matchPersonNumber {
		return invalid("userMatch must be %s or %s.", matchUsername, matchPersonNumber)
	}
	for _, algorithm := range p.algorithms {
		if !slices.Contains(asymmetric, jose.SignatureAlgorithm(algorithm)) {
			return invalid("algorithms must be among %v.", asymmetric)
		}
	}
	if p.skew < 0 || p.skew > maxSkew || len(p.algorithms) > len(asymmetric) {
		return invalid("clockSkewSeconds must be 0 to %d, and each algorithm must occur once.", int(maxSkew/time.Second))
	}
	return p.checkProfiles()
}

func (p *provider) checkProfiles() error {
	if (p.profileClaim == "") != (len(p.profileValues) == 0) {
		return invalid("profileClaim and profiles belong together: give both or neither.")
	}
	if len(p.profileValues) > maxProfiles || p.profileClaim != "" && !isText(p.profileClaim, maxText) {
		return invalid("profiles has at most %d items, and profileClaim at most %d bytes.", maxProfiles, maxText)
	}
	for i := range p.profileValues {
		if !isText(p.profileValues[i], maxText) || !isText(p.profileNames[i], maxText) {
			return invalid("profiles[%d] needs a value and an accessProfile of at most %d bytes.", i, maxText)
		}
	}
	return nil
}

// checkURL refuses addresses that are invalid for an issuer or a key set.
func (c Config) checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("address: %w", err)
	case u.Scheme != "https" && !(c.PlainHTTP && u.Scheme == "http"):
		return fmt.Errorf("the address %q does not use https", text)
	case u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "":
		return fmt.Errorf("the address %q must consist of a host and a path", text)
	}
	return nil
}

func isText(text string, limit int) bool {
	return strings.TrimSpace(text) != "" && len(text) <= limit && !strings.ContainsRune(text, 0)
}

func textOr(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}

func (p *provider) response() *authv1.IdentityProvider {
	skew := int32(p.skew / time.Second)
	out := &authv1.IdentityProvider{
		Id: p.id, Name: p.name, Issuer: p.issuer, Audience: p.audience, UserClaim: p.userClaim, UserMatch: p.userMatch,
		ProfileClaim: p.profileClaim, Algorithms: p.algorithms, ClockSkewSeconds: &skew, Enabled: &p.enabled,
	}
	for i := range p.profileValues {
		out.Profiles = append(out.Profiles, &authv1.ProfileMapping{Value: p.profileValues[i], AccessProfile: p.profileNames[i]})
	}
	return out
}
