package authn

import (
	"net/url"
	"strconv"
	"time"
)

// Caller writes who a principal is, and until when, for the edge: not what they
// may do.
func (p *Principal) Caller() string {
	return url.Values{
		"tenant": {strconv.FormatInt(p.Tenant, 10)}, "user": {p.Subject}, "person": {strconv.FormatInt(p.PersonID, 10)},
		"client": {p.Client}, "until": {strconv.FormatInt(p.Expiry.Unix(), 10)},
	}.Encode()
}

// ParseCaller reads what Caller wrote. The principal has no permissions.
func ParseCaller(text string) (*Principal, bool) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return nil, false
	}
	tenant, err := strconv.ParseInt(values.Get("tenant"), 10, 64)
	if err != nil || tenant < 1 {
		return nil, false
	}
	person, err := strconv.ParseInt(values.Get("person"), 10, 64)
	if err != nil {
		return nil, false
	}
	until, err := strconv.ParseInt(values.Get("until"), 10, 64)
	if err != nil {
		return nil, false
	}
	return &Principal{
		Tenant: tenant, Subject: values.Get("user"), PersonID: person, Client: values.Get("client"), Expiry: time.Unix(until, 0),
	}, true
}

// Remember takes over whose a token is from a service that has verified it, until
// the principal's expiry. It is for those who cannot verify the token themselves
// and let nobody in by it.
func (v *Verifier) Remember(token string, p *Principal) {
	v.cache.put(hash(token), p, p.Expiry, v.clock.Now())
}
