package authclient

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// tokens returns a key set as the token service does.
type tokens struct {
	authv1.TokenServiceClient
	keys []*authv1.JSONWebKey
	err  error
}

func (c tokens) GetKeySet(context.Context, *authv1.GetKeySetRequest, ...grpc.CallOption) (*authv1.GetKeySetResponse, error) {
	return &authv1.GetKeySetResponse{Keys: c.keys}, c.err
}

func TestKeys(t *testing.T) {
	t.Parallel()
	public, _, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	x := base64.RawURLEncoding.EncodeToString(public)
	good := &authv1.JSONWebKey{Kty: "OKP", Crv: "Ed25519", Kid: "key-1", X: x, Alg: "EdDSA", Use: "sig"}
	set, err := keys(tokens{keys: []*authv1.JSONWebKey{good}})(t.Context())
	require.NoError(t, err)
	require.Len(t, set.Key("key-1"), 1)
	assert.Equal(t, public, set.Key("key-1")[0].Key)
	assert.Equal(t, "sig", set.Key("key-1")[0].Use)

	for name, bad := range map[string]tokens{
		"auth is away":   {err: errors.New("down")},
		"another curve":  {keys: []*authv1.JSONWebKey{{Kid: "key-1", Crv: "P-256", X: x}}},
		"half of a key":  {keys: []*authv1.JSONWebKey{{Kid: "key-1", Crv: "Ed25519", X: "AAAA"}}},
		"no text of one": {keys: []*authv1.JSONWebKey{{Kid: "key-1", Crv: "Ed25519", X: "="}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := keys(bad)(t.Context())
			assert.Error(t, err)
		})
	}
}

// pages lists one revocation a page, and revokes one more before each page but the
// first.
type pages struct {
	keys     []string
	requests []*authv1.ListRevocationsRequest
	err      error
}

func (p *pages) ListRevocations(_ context.Context, req *authv1.ListRevocationsRequest, _ ...grpc.CallOption) (*authv1.ListRevocationsResponse, error) {
	p.requests = append(p.requests, &authv1.ListRevocationsRequest{Since: req.GetSince(), After: req.GetAfter()})
	at := max(req.GetSince(), req.GetAfter().GetVersion())
	if at == 2 && p.err != nil {
		return nil, p.err
	}
	page := &authv1.ListRevocationsResponse{Horizon: 3 + int64(len(p.requests)) - 1}
	page.Revocations = []*authv1.Revocation{{Key: p.keys[at], ExpiresAt: 100 + at}}
	if at+1 < int64(len(p.keys)) {
		page.Next = &authv1.RevocationPosition{Version: at + 1, Key: p.keys[at]}
	}
	return page, nil
}

func TestRevocations(t *testing.T) {
	t.Parallel()
	client := &pages{keys: []string{"a", "b", "c"}}
	got := map[string]time.Time{}
	add := func(key string, until time.Time) { got[key] = until }
	horizon, err := revocations(client)(t.Context(), 0, add)
	require.NoError(t, err)
	assert.EqualValues(t, 3, horizon, "that of the first page")
	assert.Equal(t, map[string]time.Time{"a": time.Unix(100, 0), "b": time.Unix(101, 0), "c": time.Unix(102, 0)}, got)
	assert.Len(t, client.requests, 3)

	client = &pages{keys: []string{"a", "b", "c"}, err: errors.New("away")}
	clear(got)
	_, err = revocations(client)(t.Context(), 1, add)
	require.ErrorIs(t, err, client.err)
	assert.Equal(t, map[string]time.Time{"b": time.Unix(101, 0)}, got, "what a page said is kept")
}
