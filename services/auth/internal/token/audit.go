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

// What the audit trail calls what is done here.
const (
	auditLogin      = "login"
	auditRefresh    = "refresh"
	auditRevocation = "revocation"
)

// loggedIn is the event of a log-in.
func (h *Handler) loggedIn(c *client, u *user, sid string) audit.Event {
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

// refused keeps that a log-in or a refresh was refused, and returns the error that
// the caller gets. What is no request at all is left to the access log, and what
// was asked too often is gathered (see gathered), as is what is more than the rows
// that a tenant may have in a while: otherwise anybody could fill the disk. Names
// are kept of users and clients who exist; others may be passwords in the wrong
// field.
func (h *Handler) refused(ctx context.Context, req *authv1.IssueTokenRequest, cause error) error {
	f := fault.FromError(cause)
	if f.Status == http.StatusTooManyRequests {
		return h.gathered(ctx, nil, cause)
	}
	if f.OAuth == "" || f.OAuth == "invalid_request" || f.OAuth == "unsupported_grant_type" || f.Status >= http.StatusInternalServerError {
		return cause
	}
	e := audit.Event{At: h.Clock.Now(), Operation: auditLogin, Outcome: f.OAuth}
	if req.GetGrantType() == grantRefresh {
		e.Operation = auditRefresh
	}
	var err error
	if e.Tenant, err = h.tenantOf(ctx); err == nil {
		ctx = tenant.With(ctx, e.Tenant)
		err = h.Pool.QueryRow(ctx, `SELECT
			coalesce((SELECT client_id FROM client WHERE tenant_id = $1 AND client_id = $2), ''),
			coalesce((SELECT username FROM app_user WHERE tenant_id = $1 AND username_key = $3), '')`,
			e.Tenant, req.GetClientId(), username.KeyOf(req.GetUsername())).Scan(&e.Client, &e.User)
	}
	if err == nil && !h.rows.take(e.Tenant, e.At) {
		return f.WithCause(authn.RefusedTo(&authn.Principal{Tenant: e.Tenant, Subject: e.User, Client: e.Client}, f.Unwrap()))
	}
	if err == nil {
		err = e.Write(ctx, h.Pool)
	}
	if err != nil {
		h.Log.ErrorContext(ctx, "a refused log-in could not be written to the audit trail", "error", err)
	}
	return cause
}

// gathered returns the error of a request that was refused without a row of its own,
// so that it is counted in the trail of the tenant: a log-in that came too often, or
// a revocation. The client is nil when it is not known.
func (h *Handler) gathered(ctx context.Context, c *client, err error) error {
	f := fault.FromError(err)
	if f.OAuth == "" || f.OAuth == "invalid_request" || f.Status >= http.StatusInternalServerError {
		return err
	}
	p := &authn.Principal{}
	if c != nil {
		p.Tenant, p.Client = c.tenantID, c.id
	} else if id, tenantErr := h.tenantOf(ctx); tenantErr == nil {
		p.Tenant = id
	}
	return f.WithCause(authn.RefusedTo(p, f.Unwrap()))
}

// revocationOf is the event of a revocation, of an access token, a family, or a
// token of an identity provider.
func (h *Handler) revocationOf(c *client, userName string, id string) audit.Event {
	return audit.Event{
		Tenant: c.tenantID, At: h.Clock.Now(), User: userName, Client: c.id,
		Operation: auditRevocation, Objects: []string{id}, Outcome: audit.OK,
	}
}

// auditExchange keeps, once for each token, how it fared with a user whom an
// identity provider has named; nil when there is none who may log in.
func (h *Handler) auditExchange(ctx context.Context, who *federation.Identified, u *user) error {
	e := h.loggedIn(providerClient(who), &user{}, who.ID)
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

// maxSeen bounds the tokens that are remembered; when more are seen, some are
// kept twice in the trail.
const maxSeen = 50_000
