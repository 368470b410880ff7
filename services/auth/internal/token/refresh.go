package token

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

const (
	// maxRefreshBatch is the largest number of refreshes in one statement, and maxUnderWay the number of
	// statements of a tenant that run at a time.
	maxRefreshBatch = 128
	maxUnderWay     = 1
	refreshTimeout  = 10 * time.Second
)

// refresh returns an access token for a refresh token. It returns nil if the token is invalid; then the caller
// determines the reason.
func (h *Handler) refresh(ctx context.Context, req *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
	tenantID, err := h.requestTenant(ctx)
	if err != nil {
		return nil, err
	}
	now := h.Clock.Now()
	key := refreshKey{
		client: req.GetClientId(), secret: sha256.Sum256([]byte(req.GetClientSecret())), token: sha256.Sum256([]byte(req.GetRefreshToken())),
	}
	u, err := h.refreshes.use(tenant.With(ctx, tenantID), h, key)
	if err != nil || u == nil || u.lockedOut {
		return nil, err
	}
	granted, ok := h.Scopes.Of(u.scopes).Restrict(u.family.scope)
	if ok {
		granted, ok = granted.Restrict(req.GetScope())
	}
	if !ok {
		return nil, invalidScope()
	}
	c := &client{tenantID: tenantID, id: req.GetClientId()}
	return h.issue(tenant.With(ctx, tenantID), c, u.user, u.family, granted, now, req.GetNonce())
}

// refreshKey identifies a refresh: the client and its credentials, hashed for the lookup.
type refreshKey struct {
	client        string
	secret, token [sha256.Size]byte
}

// refreshedUser is the user of a refresh token, with the scopes of its client.
type refreshedUser struct {
	*user
	family family
	scopes []string
}

// refreshes batches refreshes. While a tenant has a running statement, further refreshes wait and share the
// next one, so that many cost little more than one, and a single one does not wait.
type refreshes struct {
	mu    sync.Mutex
	lines map[int64]*line
}

// line contains the waiting refreshes of a tenant. It exists while statements run.
type line struct {
	underWay int
	next     *refreshBatch
}

// refreshBatch is the input and output of one statement.
type refreshBatch struct {
	keys []refreshKey
	// done is closed when users and err are set.
	done  chan struct{}
	users map[refreshKey]*refreshedUser
	err   error
}

func newRefreshBatch() *refreshBatch { return &refreshBatch{done: make(chan struct{})} }

// use returns the user of a refresh token that the client may use, or nil.
func (r *refreshes) use(ctx context.Context, h *Handler, key refreshKey) (*refreshedUser, error) {
	mine, first := r.join(tenant.Of(ctx), key)
	if mine == nil {
		return h.useAlone(ctx, key)
	}
	if first {
		go r.runBatches(context.WithoutCancel(ctx), h, mine)
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-mine.done:
	}
	if pgerr.Conflicted(mine.err) {
		return h.useAlone(ctx, key)
	}
	return mine.users[key], mine.err
}

// join adds a key to the next batch, and reports whether the caller must start it. It returns nil if the batch
// is full.
func (r *refreshes) join(tenantID int64, key refreshKey) (mine *refreshBatch, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lines[tenantID]
	if l == nil {
		if r.lines == nil {
			r.lines = map[int64]*line{}
		}
		l = &line{next: newRefreshBatch()}
		r.lines[tenantID] = l
	}
	mine = l.next
	if len(mine.keys) >= maxRefreshBatch {
		return nil, false
	}
	// A statement finds a row only once, so each key must be unique.
	if !slices.Contains(mine.keys, key) {
		mine.keys = append(mine.keys, key)
	}
	if l.underWay < maxUnderWay {
		l.underWay++
		l.next = newRefreshBatch()
		return mine, true
	}
	return mine, false
}

// runBatches runs the batches of a tenant until none is waiting.
func (r *refreshes) runBatches(ctx context.Context, h *Handler, next *refreshBatch) {
	tenantID := tenant.Of(ctx)
	for next != nil {
		h.useTogether(ctx, next)
		next = r.leave(tenantID)
	}
}

// leave returns the next batch of a worker, or nil.
func (r *refreshes) leave(tenantID int64) *refreshBatch {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lines[tenantID]
	if next := l.next; len(next.keys) > 0 {
		l.next = newRefreshBatch()
		return next
	}
	if l.underWay--; l.underWay == 0 {
		delete(r.lines, tenantID)
	}
	return nil
}

func (h *Handler) useTogether(ctx context.Context, t *refreshBatch) {
	defer close(t.done)
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	now := h.Clock.Now()
	t.users, t.err = useRefreshTokens(ctx, h.Pool, t.keys, now, now.Add(h.cfg.Life))
}

func (h *Handler) useAlone(ctx context.Context, key refreshKey) (*refreshedUser, error) {
	t := &refreshBatch{keys: []refreshKey{key}, done: make(chan struct{})}
	h.useTogether(ctx, t)
	return t.users[key], t.err
}

// useRefreshTokens returns the users of valid refresh tokens, and records the end of the new access tokens. A
// revocation relies on that record: either it waits for this statement, or this statement finds no row.
func useRefreshTokens(ctx context.Context, db pg.Querier, keys []refreshKey, now, accessUntil time.Time) (map[refreshKey]*refreshedUser, error) {
	tokens, clients, secrets := make([][]byte, len(keys)), make([]string, len(keys)), make([][]byte, len(keys))
	for i := range keys {
		tokens[i], clients[i], secrets[i] = keys[i].token[:], keys[i].client, keys[i].secret[:]
	}
	// IS NOT DISTINCT FROM keeps the planner from using the index on the client: a token selects one row, but a
	// client could select many.
	users := make(map[refreshKey]*refreshedUser, len(keys))
	_, err := pg.Collect(ctx, db, func(row pgx.CollectableRow) (struct{}, error) {
		u, at := &refreshedUser{}, int64(0)
		var err error
		u.user, err = scanUser(row, &at, &u.family.sid, &u.family.expiresAt, &u.family.accessUntil, &u.family.scope, &u.scopes)
		if err == nil {
			users[keys[at-1]] = u
		}
		return struct{}{}, err
	}, `WITH f AS (
			UPDATE token_family t SET access_until = greatest(t.access_until, $6)
			FROM unnest($2::bytea[], $3::text[], $4::bytea[]) WITH ORDINALITY AS q (token, client, secret, at)
			JOIN client c ON c.tenant_id = $1 AND c.client_id = q.client AND c.secret_hash = q.secret AND c.enabled AND c.refresh_grant
			WHERE t.tenant_id = $1 AND t.refresh_hash = q.token AND t.client_id IS NOT DISTINCT FROM q.client AND t.expires_at > $5
			RETURNING q.at, t.user_id, t.sid, t.expires_at, t.access_until, t.scope, c.scopes)
		SELECT u.*, f.at, f.sid, f.expires_at, f.access_until, f.scope, f.scopes FROM f
		JOIN LATERAL (`+selectUser+` WHERE u.tenant_id = $1 AND u.id = f.user_id) u ON true`,
		tenant.Of(ctx), tokens, clients, secrets, now, accessUntil)
	return users, err
}
