package client_test

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
)

func TestClientsAreCreated(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	on, off := proto.Bool(true), proto.Bool(false)
	longest := strings.Repeat("a", 100)
	for _, c := range []struct {
		name string
		sent *authv1.Client
		want *authv1.Client
	}{
		{
			"with nothing said",
			&authv1.Client{ClientId: "plain"},
			&authv1.Client{ClientId: "plain", Enabled: on, PasswordGrant: on, RefreshGrant: on, ClientGrant: off},
		},
		{
			"with everything said",
			&authv1.Client{ClientId: "A.b_c~d-1", Enabled: off, PasswordGrant: off, RefreshGrant: off, ClientGrant: on, AccessProfile: "Employee", Scopes: []string{"read", "commons.*", "scheduling.schedule.write"}},
			&authv1.Client{ClientId: "A.b_c~d-1", Enabled: off, PasswordGrant: off, RefreshGrant: off, ClientGrant: on, AccessProfile: "Employee", Scopes: []string{"read", "commons.*", "scheduling.schedule.write"}},
		},
		{
			"with a profile for later",
			&authv1.Client{ClientId: longest, AccessProfile: "Super"},
			&authv1.Client{ClientId: longest, Enabled: on, PasswordGrant: on, RefreshGrant: on, ClientGrant: off, AccessProfile: "Super"},
		},
		{
			"with as many scopes as there may be",
			&authv1.Client{ClientId: "wide", Scopes: slices.Repeat([]string{"commons"}, 50)},
			&authv1.Client{ClientId: "wide", Enabled: on, PasswordGrant: on, RefreshGrant: on, ClientGrant: off, Scopes: slices.Repeat([]string{"commons"}, 50)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			made := w.create(t, c.sent)
			hash := sha256.Sum256([]byte(made.GetClientSecret()))
			assert.Equal(t, hash[:], w.secret(t, c.want.GetClientId()), "what is stored proves the secret")
			made.ClientSecret = ""
			assert.True(t, proto.Equal(c.want, made), "%v", made)
			found, err := w.GetClient(w.ctx, &authv1.GetClientRequest{ClientId: c.want.GetClientId()})
			require.NoError(t, err)
			assert.True(t, proto.Equal(c.want, found), "%v", found)
		})
	}
	t.Run("without an id", func(t *testing.T) {
		t.Parallel()
		one, other := w.create(t, &authv1.Client{}), w.create(t, &authv1.Client{})
		assert.NotEqual(t, one.GetClientId(), other.GetClientId())
		assert.NotEqual(t, one.GetClientSecret(), other.GetClientSecret())
	})
}

func TestClientsAreRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.create(t, &authv1.Client{ClientId: "taken"})
	for _, c := range []struct {
		name string
		sent *authv1.Client
		code string
	}{
		{"an id that is too long", &authv1.Client{ClientId: strings.Repeat("a", 101)}, fault.CodeBadRequest},
		{"an id with a space", &authv1.Client{ClientId: "a b"}, fault.CodeBadRequest},
		{"an id with another letter", &authv1.Client{ClientId: "ä"}, fault.CodeBadRequest},
		{"an id with a second line", &authv1.Client{ClientId: "a\n"}, fault.CodeBadRequest},
		{"an id that is taken", &authv1.Client{ClientId: "taken"}, fault.CodeConflict},
		{"a secret", &authv1.Client{ClientSecret: "mine"}, fault.CodeBadRequest},
		{"own work without a profile", &authv1.Client{ClientGrant: proto.Bool(true)}, fault.CodeBadRequest},
		{"a profile that is not there", &authv1.Client{AccessProfile: "Nobody"}, profile.CodeUnknown},
		{"a profile in another case", &authv1.Client{AccessProfile: "super"}, profile.CodeUnknown},
		{"a profile that is too long", &authv1.Client{AccessProfile: strings.Repeat("x", 1001)}, fault.CodeBadRequest},
		{"too many scopes", &authv1.Client{Scopes: slices.Repeat([]string{"commons"}, 51)}, fault.CodeBadRequest},
		{"a scope of a permission that is not there", &authv1.Client{Scopes: []string{"commons", "commons.person.delete"}}, fault.CodeBadRequest},
		{"a scope of a domain that is not there", &authv1.Client{Scopes: []string{"payroll"}}, fault.CodeBadRequest},
		{"a scope that says who somebody is", &authv1.Client{Scopes: []string{"openid"}}, fault.CodeBadRequest},
		{"an empty scope", &authv1.Client{Scopes: []string{""}}, fault.CodeBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := w.CreateClient(w.ctx, c.sent)
			faulttest.RequireCode(t, c.code, err)
		})
	}
}

func TestTenantsHaveABoundedNumberOfClients(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.exec(t, `INSERT INTO client (tenant_id, client_id, secret_hash) SELECT 1, 'client-' || n, '' FROM generate_series(1, 10999) n`)
	w.create(t, &authv1.Client{ClientId: "last"})
	_, err := w.CreateClient(w.ctx, &authv1.Client{ClientId: "beyond"})
	faulttest.RequireCode(t, fault.CodeConflict, err)
	_, err = w.DeleteClient(w.ctx, &authv1.DeleteClientRequest{ClientId: "client-7"})
	require.NoError(t, err)
	w.create(t, &authv1.Client{ClientId: "beyond"})
}
