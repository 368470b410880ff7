package auth_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// trail answers the audit events of the default tenant, the oldest first, as
// "operation user client outcome".
func (b *bench) trail(t *testing.T) (lines []string, raw string) {
	t.Helper()
	ctx := authn.With(tenant.With(t.Context(), 1), &authn.Principal{Tenant: 1, Subject: adminName}, "")
	answer, err := authv1.NewAuditEventServiceClient(b.local.Conn("commons", nil)).ReadAuditEvents(ctx, &authv1.ReadAuditEventsRequest{})
	require.NoError(t, err)
	for _, e := range answer.GetEvents() {
		lines = append([]string{strings.Join([]string{e.GetOperation(), e.GetUserName(), e.GetClientId(), e.GetOutcome()}, " ")}, lines...)
	}
	text, err := json.Marshal(answer)
	require.NoError(t, err)
	return lines, string(text)
}

func TestLogInsAndRevocationsAreKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	refused := func(change func(*authv1.IssueTokenRequest)) {
		t.Helper()
		b.clock.Advance(time.Second)
		_, err := b.tokens.IssueToken(t.Context(), passwordGrant(change))
		require.Error(t, err)
	}
	answer, err := b.tokens.IssueToken(t.Context(), passwordGrant())
	require.NoError(t, err)
	refused(func(r *authv1.IssueTokenRequest) { r.Password = "a wrong password" })
	refused(func(r *authv1.IssueTokenRequest) { r.Username = "a password in the wrong field" })
	refused(func(r *authv1.IssueTokenRequest) { r.ClientSecret = "a wrong secret" })
	refused(func(r *authv1.IssueTokenRequest) { r.ClientId = "a secret in the wrong field" })
	refused(func(r *authv1.IssueTokenRequest) { r.Username = "" })
	b.clock.Advance(time.Second)
	_, err = b.tokens.IssueToken(t.Context(), refreshGrant("a wrong refresh token"))
	require.Error(t, err)
	for _, token := range []string{answer.GetAccessToken(), answer.GetRefreshToken()} {
		b.clock.Advance(time.Second)
		_, err = b.tokens.RevokeToken(t.Context(), &authv1.RevokeTokenRequest{Token: token, ClientId: clientID, ClientSecret: clientSecret})
		require.NoError(t, err)
	}
	lines, raw := b.trail(t)
	assert.Equal(t, []string{
		"login admin client-1 ok",
		"login admin client-1 invalid_grant",
		"login  client-1 invalid_grant",
		"login admin client-1 invalid_client",
		"login admin  invalid_client",
		"refresh  client-1 invalid_grant",
		"revocation admin client-1 ok",
		"revocation admin client-1 ok",
	}, lines)
	for _, secret := range []string{"wrong", adminPassword, clientSecret, answer.GetAccessToken(), answer.GetRefreshToken()} {
		assert.NotContains(t, raw, secret)
	}
}

func TestFederatedLogInsAreKeptOnce(t *testing.T) {
	t.Parallel()
	f := newFederated(t)
	token := f.token("ada", "rotaloom")
	for range 3 {
		_, err := f.verifier.Verify(t.Context(), token)
		require.NoError(t, err)
		f.refuses(t, f.token("eve", "elsewhere"), "another audience is nobody's log-in")
		f.clock.Advance(2 * time.Minute)
	}
	f.refuses(t, f.token("eve", "rotaloom"), "unknown")
	lines, _ := f.trail(t)
	assert.Equal(t, []string{"login ada idp-1 ok", "login  idp-1 unknown_or_locked_user"}, only(lines, "idp-1"))
}

func only(lines []string, part string) (out []string) {
	for _, line := range lines {
		if strings.Contains(line, part) {
			out = append(out, line)
		}
	}
	return out
}

func TestTheTrailIsReadInPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 5 {
		_, err := b.tokens.IssueToken(t.Context(), passwordGrant()) // All at one moment.
		require.NoError(t, err)
	}
	b.clock.Advance(time.Hour)
	_, err := b.tokens.IssueToken(t.Context(), passwordGrant())
	require.NoError(t, err)

	ctx := b.as(t, adminName, adminPassword)
	events := authv1.NewAuditEventServiceClient(b.local.Conn("commons", nil))
	req := &authv1.ReadAuditEventsRequest{Count: 2, Where: &authv1.AuditEventFilter{
		UserName: "ADMIN", Operation: "login", EndDateTime: "2026-03-01T12:30:00",
	}}
	n := 0
	for pages := 0; pages < 4; pages++ {
		answer, err := events.ReadAuditEvents(ctx, req)
		require.NoError(t, err)
		n += len(answer.GetEvents())
		if req.After = answer.GetNext(); req.After == "" {
			break
		}
	}
	assert.Equal(t, 5, n, "each once")
	for _, bad := range []*authv1.ReadAuditEventsRequest{
		{Count: 1001}, {Count: -1}, {After: "?"}, {After: "MTIz"}, {Where: &authv1.AuditEventFilter{StartDateTime: "yesterday"}},
	} {
		_, err := events.ReadAuditEvents(ctx, bad)
		assert.True(t, fault.HasStatus(err, 400), "%v: %v", bad, err)
	}
}
