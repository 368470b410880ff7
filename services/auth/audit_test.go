package auth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	auditv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/audit/v1"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// distantFuture is later than every event, in microseconds: the year 3000.
const distantFuture = 32_503_680_000_000_000

// auditLog returns the audit events of the default tenant, the oldest first, as
// "operation user client outcome".
func (b *fixture) auditLog(t *testing.T) (lines []string, raw string) {
	t.Helper()
	response, err := audit.NewLogServer(b.pool).ReadAuditTrail(tenant.With(t.Context(), 1), &auditv1.ReadAuditTrailRequest{
		To: distantFuture, Before: distantFuture, Count: 1000,
	})
	require.NoError(t, err)
	for _, e := range response.GetEvents() {
		lines = append([]string{strings.Join([]string{e.GetOperation(), e.GetUserName(), e.GetClientId(), e.GetOutcome()}, " ")}, lines...)
	}
	text, err := json.Marshal(response)
	require.NoError(t, err)
	return lines, string(text)
}

func TestLogInsAndRevocationsAreKept(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	refused := func(change func(*authv1.IssueTokenRequest)) {
		t.Helper()
		b.clock.Advance(time.Second)
		_, err := b.tokens.IssueToken(t.Context(), passwordGrant(change))
		require.Error(t, err)
	}
	response, err := b.tokens.IssueToken(t.Context(), passwordGrant())
	require.NoError(t, err)
	refused(func(r *authv1.IssueTokenRequest) { r.Password = "a wrong password" })
	refused(func(r *authv1.IssueTokenRequest) { r.Username = "a password in the wrong field" })
	refused(func(r *authv1.IssueTokenRequest) { r.ClientSecret = "a wrong secret" })
	refused(func(r *authv1.IssueTokenRequest) { r.ClientId = "a secret in the wrong field" })
	refused(func(r *authv1.IssueTokenRequest) { r.Username = "" })
	b.clock.Advance(time.Second)
	_, err = b.tokens.IssueToken(t.Context(), refreshGrant("a wrong refresh token"))
	require.Error(t, err)
	for _, token := range []string{response.GetAccessToken(), response.GetRefreshToken()} {
		b.clock.Advance(time.Second)
		_, err = b.tokens.RevokeToken(t.Context(), &authv1.RevokeTokenRequest{Token: token, ClientId: clientID, ClientSecret: clientSecret})
		require.NoError(t, err)
	}
	lines, raw := b.auditLog(t)
	assert.Equal(t, []string{
		"bootstrap   ok",
		"login admin client-1 ok",
		"login admin client-1 invalid_grant",
		"login  client-1 invalid_grant",
		"login admin client-1 invalid_client",
		"login admin  invalid_client",
		"refresh  client-1 invalid_grant",
		"revocation admin client-1 ok",
		"revocation admin client-1 ok",
	}, lines)
	for _, secret := range []string{"wrong", adminPassword, clientSecret, response.GetAccessToken(), response.GetRefreshToken()} {
		assert.NotContains(t, raw, secret)
	}
}

func TestFederatedLogInsAreKeptOnce(t *testing.T) {
	t.Parallel()
	f := newFederated(t)
	token := f.issueToken("ada", "rotaloom")
	for range 3 {
		_, err := f.verifier.Verify(t.Context(), token)
		require.NoError(t, err)
		f.refuses(t, f.issueToken("eve", "elsewhere"), "another audience is nobody's log-in")
		f.clock.Advance(2 * time.Minute)
	}
	f.refuses(t, f.issueToken("eve", "rotaloom"), "unknown")
	lines, _ := f.auditLog(t)
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

// refusals returns a client of the token service, and the denials that the chain records.
func (b *fixture) refusals(t *testing.T) (authv1.TokenServiceClient, *[]string) {
	t.Helper()
	verifier, err := authn.NewVerifier(tokens, b.service, b.service, b.clock)
	require.NoError(t, err)
	noted := &[]string{}
	chain, err := rpc.NewChain(rpc.Config{}, rpc.Deps{
		Log: pgtest.Log(t), Metrics: prometheus.NewRegistry(), Verifier: verifier, Clock: b.clock,
		Denied: func(_ context.Context, method *policy.Method, p *authn.Principal, f *fault.Error) {
			*noted = append(*noted, fmt.Sprint(method.Name[strings.LastIndexByte(method.Name, '/')+1:], " ", p.Tenant, " ", p.Client, " ", f.OAuth))
		},
	})
	require.NoError(t, err)
	local := rpc.NewLocal(chain)
	b.service.Register(local)
	return authv1.NewTokenServiceClient(local), noted
}

// The chain counts attempts without an audit row of their own, with their tenant and client.
func TestAttemptsThatLeaveNoRowAreNoted(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	client, noted := b.refusals(t)
	var err error
	for range 11 {
		_, err = client.IssueToken(t.Context(), passwordGrant(func(r *authv1.IssueTokenRequest) { r.Password = "a wrong password" }))
		require.Error(t, err)
	}
	_, err = client.RevokeToken(t.Context(), &authv1.RevokeTokenRequest{Token: "x", ClientId: clientID, ClientSecret: "wrong"})
	require.Error(t, err)
	_, err = client.RevokeToken(t.Context(), &authv1.RevokeTokenRequest{ClientId: clientID, ClientSecret: clientSecret})
	require.Error(t, err, "no request at all")
	assert.Equal(t, []string{"IssueToken 1  slow_down", "RevokeToken 1  invalid_client"}, *noted)
}

// Nobody fills the disk with refused log-ins, from however many addresses they come.
func TestRowsOfRefusedLogInsAreBounded(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	client, noted := b.refusals(t)
	for range 60 {
		_, err := client.IssueToken(t.Context(), refreshGrant("a wrong refresh token"))
		assertOAuth(t, err, 400, "invalid_grant")
	}
	lines, _ := b.auditLog(t)
	assert.Len(t, only(lines, "refresh  client-1 invalid_grant"), 50)
	require.Len(t, *noted, 10)
	assert.Equal(t, "IssueToken 1 client-1 invalid_grant", (*noted)[0])
	b.clock.Advance(5 * time.Second)
	_, err := client.IssueToken(t.Context(), refreshGrant("a wrong refresh token"))
	require.Error(t, err)
	lines, _ = b.auditLog(t)
	assert.Len(t, only(lines, "refresh  client-1 invalid_grant"), 51, "after a while there are rows again")
}
