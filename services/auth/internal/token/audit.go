package token

import (
	"context"
	"net/http"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/federation"
	"github.com/rotaloom/rotaloom/services/auth/internal/username"
)

// Operation names in the audit log.
const (
	auditLogin      = "login"
	auditRefresh    = "refresh"
	auditRevocation = "revocation"
)

// loginEvent returns the audit event of a log-in.
func (h *Handler) loginEvent(c *client, u *user, sid string) audit.Event {
	return audit.Event{
		Tenant: c.tenantID, At: h.Clock.Now(), User: u.name, PersonID: u.personID, Client: c.id,
		Operation: auditLogin, Objects: objects(sid), Outcome: audit.OK,
	}
}

func objects(id string) []string {
	if id == "" {
		return nil
	}
	return []string{id}
}

// recordDenial writes the denial of a log-in or refresh to the audit log, and returns the error for the caller.
// Malformed requests appear in the access log only. Requests over the rate, and denials beyond the row budget
// of the tenant, are only counted (see countDenial), because otherwise an attacker could fill the disk. The
// event names only users and clients that exist, because an unknown name may be a password in the wrong field.
func (h *Handler) recordDenial(ctx context.Context, req *authv1.IssueTokenRequest, cause error) error {
	f := fault.FromError(cause)
	if f.Status == http.StatusTooManyRequests {
		return h.countDenial(ctx, nil, cause)
	}
	if f.OAuth == "" || f.OAuth == "invalid_request" || f.OAuth == "unsupported_grant_type" || f.Status >= http.StatusInternalServerError {
		return cause
	}
	e := audit.Event{At: h.Clock.Now(), Operation: auditLogin, Outcome: f.OAuth}
	if req.GetGrantType() == grantRefresh {
		e.Operation = auditRefresh
	}
	var err error
	if e.Tenant, err = h.requestTenant(ctx); err == nil {
		ctx = tenant.With(ctx, e.Tenant)
		err = h.Pool.QueryRow(ctx, `SELECT
			coalesce((SELECT client_id FROM client WHERE tenant_id = $1 AND client_id = $2), ''),
			coalesce((SELECT username FROM app_user WHERE tenant_id = $1 AND username_key = $3), '')`,
			e.Tenant, req.GetClientId(), username.LookupKey(req.GetUsername())).Scan(&e.Client, &e.User)
	}
	if err == nil && !h.rows.take(e.Tenant, e.At) {
		return f.WithCause(authn.DeniedTo(&authn.Principal{Tenant: e.Tenant, Subject: e.User, Client: e.Client}, f.Unwrap()))
	}
	if err == nil {
		err = e.Write(ctx, h.Pool)
	}
	if err != nil {
		h.Log.ErrorContext(ctx, "a denied log-in could not be written to the audit log", "error", err)
	}
	return cause
}

// countDenial returns an error that makes the caller count the denial in the tenant's audit log, without a row
// of its own. It is for log-ins over the rate, and for revocations. The client is nil if it is unknown.
func (h *Handler) countDenial(ctx context.Context, c *client, err error) error {
	f := fault.FromError(err)
	if f.OAuth == "" || f.OAuth == "invalid_request" || f.Status >= http.StatusInternalServerError {
		return err
	}
	p := &authn.Principal{}
	if c != nil {
		p.Tenant, p.Client = c.tenantID, c.id
	} else if id, tenantErr := h.requestTenant(ctx); tenantErr == nil {
		p.Tenant = id
	}
	return f.WithCause(authn.DeniedTo(p, f.Unwrap()))
}

// revocationEvent returns the audit event of a revocation: of an access token, a family, or a token of an
// identity provider.
func (h *Handler) revocationEvent(c *client, userName string, id string) audit.Event {
	return audit.Event{
		Tenant: c.tenantID, At: h.Clock.Now(), User: userName, Client: c.id,
		Operation: auditRevocation, Objects: []string{id}, Outcome: audit.OK,
	}
}

// auditExchange writes, once for each token, whether the user of an identity-provider token could log in. u is
// nil if not.
func (h *Handler) auditExchange(ctx context.Context, who *federation.Identified, u *user) error {
	e := h.loginEvent(providerClient(who), &user{}, who.ID)
	if u == nil {
		e.Outcome = "unknown_or_locked_user"
	} else {
		e.User, e.PersonID = u.name, u.personID
	}
	key := who.ID + e.Outcome
	if !h.seen.PutNew(key, struct{}{}, who.End) {
		return nil
	}
	err := e.Write(ctx, h.Pool)
	if err != nil {
		h.seen.Remove(key)
	}
	return err
}

// maxSeen is the number of tokens in the cache. Tokens beyond it may be logged twice.
const maxSeen = 50_000
