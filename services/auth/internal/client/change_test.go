package client_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
)

// A client that may do less ends the tokens that may do more.
func TestChangesOfClientsEndTokens(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	on, off := proto.Bool(true), proto.Bool(false)
	works := func(profile string, scopes ...string) *authv1.Client {
		return &authv1.Client{ClientGrant: on, AccessProfile: profile, Scopes: scopes}
	}
	for id, c := range map[string]struct {
		before, after   *authv1.Client
		ofUsers, ofWork bool // what ends
	}{
		"the-same":                    {works("Super", "commons"), works("Super", "commons"), false, false},
		"everything-said-or-not":      {works("Super"), works("Super", "*"), false, false},
		"more-scopes":                 {works("Super", "commons"), works("Super", "scheduling", "commons"), false, false},
		"every-scope":                 {works("Super", "commons"), works("Super"), false, false},
		"a-scope-in-other-words":      {works("Super", "commons"), works("Super", "commons.*"), false, false},
		"less-of-a-scope":             {works("Super", "commons"), works("Super", "commons.person.read"), true, true},
		"another-scope":               {works("Super", "commons"), works("Super", "scheduling"), true, true},
		"scopes-at-all":               {works("Super"), works("Super", "commons", "scheduling"), true, true},
		"switched-off":                {works("Super"), &authv1.Client{Enabled: off, ClientGrant: on, AccessProfile: "Super"}, true, true},
		"switched-on":                 {&authv1.Client{Enabled: off}, &authv1.Client{}, false, false},
		"no-passwords":                {works("Super"), &authv1.Client{PasswordGrant: off, ClientGrant: on, AccessProfile: "Super"}, true, true},
		"no-refreshing":               {works("Super"), &authv1.Client{RefreshGrant: off, ClientGrant: on, AccessProfile: "Super"}, true, true},
		"no-own-work":                 {works("Super"), &authv1.Client{AccessProfile: "Super"}, false, true},
		"own-work":                    {&authv1.Client{AccessProfile: "Super"}, works("Super"), false, false},
		"another-profile":             {works("Super"), works("Employee"), false, true},
		"another-profile-for-nothing": {&authv1.Client{AccessProfile: "Super"}, &authv1.Client{AccessProfile: "Employee"}, false, false},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			c.before.ClientId = id
			w.create(t, c.before)
			w.logIn(t, id)
			secret, own := w.secret(t, id), w.ownFamily(t, id)
			changed, err := w.UpdateClient(w.ctx, &authv1.UpdateClientRequest{ClientId: id, Client: c.after})
			require.NoError(t, err)
			found, err := w.GetClient(w.ctx, &authv1.GetClientRequest{ClientId: id})
			require.NoError(t, err)
			assert.True(t, proto.Equal(changed, found), "%v", found)
			assert.Equal(t, c.ofUsers, w.hasEnded(t, "of-"+id), "the tokens of users")
			assert.Equal(t, c.ofWork, w.hasEnded(t, own), "the tokens of its own work")
			assert.Equal(t, c.ofWork, own != w.ownFamily(t, id), "another family for those that come")
			assert.Equal(t, secret, w.secret(t, id), "the secret stays")
		})
	}
}

func TestNewSecretsAndDeletionEndTokens(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, id := range []string{"rotated", "deleted", "other"} {
		w.create(t, &authv1.Client{ClientId: id, ClientGrant: proto.Bool(true), AccessProfile: "Super"})
		w.logIn(t, id)
	}
	secret, rotatedOwn, deletedOwn := w.secret(t, "rotated"), w.ownFamily(t, "rotated"), w.ownFamily(t, "deleted")
	rotated, err := w.RotateClientSecret(w.ctx, &authv1.RotateClientSecretRequest{ClientId: "rotated"})
	require.NoError(t, err)
	assert.NotEmpty(t, rotated.GetClientSecret())
	assert.NotEqual(t, secret, w.secret(t, "rotated"))
	assert.False(t, w.hasEnded(t, "of-rotated"), "users stay logged in")
	assert.True(t, w.hasEnded(t, rotatedOwn))
	_, err = w.DeleteClient(w.ctx, &authv1.DeleteClientRequest{ClientId: "deleted"})
	require.NoError(t, err)
	assert.True(t, w.hasEnded(t, "of-deleted"))
	assert.True(t, w.hasEnded(t, deletedOwn))
	assert.False(t, w.hasEnded(t, "of-other"), "another client")
	assert.False(t, w.hasEnded(t, w.ownFamily(t, "other")), "another client")
}

// Callers cannot create or take over clients with more permissions than their own.
func TestClientsWithMorePermissionsCannotBeChanged(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.create(t, &authv1.Client{ClientId: "broad"})
	w.create(t, &authv1.Client{ClientId: "super", AccessProfile: "Super", Scopes: []string{"commons"}})
	w.create(t, &authv1.Client{ClientId: "narrow", Scopes: []string{"commons"}})
	w.create(t, &authv1.Client{ClientId: "mine", Scopes: []string{"commons"}})
	ctx := authn.With(w.ctx, &authn.Principal{
		Tenant: 1, Subject: "lea", SID: "of-lea", Client: "mine", Permissions: []string{"auth.client.write", "commons.*"}, Rows: "all",
	}, "")
	create := func(sent *authv1.Client) func(context.Context) error {
		return func(ctx context.Context) error { _, err := w.CreateClient(ctx, sent); return err }
	}
	update := func(id string, sent *authv1.Client) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := w.UpdateClient(ctx, &authv1.UpdateClientRequest{ClientId: id, Client: sent})
			return err
		}
	}
	rotate := func(id string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := w.RotateClientSecret(ctx, &authv1.RotateClientSecretRequest{ClientId: id})
			return err
		}
	}
	remove := func(id string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := w.DeleteClient(ctx, &authv1.DeleteClientRequest{ClientId: id})
			return err
		}
	}
	narrow := []string{"commons.person.read"}
	for _, c := range []struct {
		name string
		do   func(context.Context) error
		code string // "" for success
	}{
		{"create one that may do as much", create(&authv1.Client{Scopes: []string{"commons", "auth.client.write"}}), ""},
		{"create one without scopes", create(&authv1.Client{}), fault.CodeNoAccess},
		{"create one with another scope", create(&authv1.Client{Scopes: []string{"commons", "scheduling.schedule.read"}}), fault.CodeNoAccess},
		{"create one with a wider pattern", create(&authv1.Client{Scopes: []string{"read"}}), fault.CodeNoAccess},
		{"create one with another profile", create(&authv1.Client{AccessProfile: "Super", Scopes: narrow}), fault.CodeNoAccess},
		{"narrow one", update("narrow", &authv1.Client{Scopes: narrow}), ""},
		{"widen one", update("mine", &authv1.Client{Scopes: []string{"*"}}), fault.CodeNoAccess},
		{"give one another profile", update("mine", &authv1.Client{AccessProfile: "Super", Scopes: narrow}), fault.CodeNoAccess},
		{"narrow one that may do more", update("broad", &authv1.Client{Scopes: narrow}), fault.CodeNoAccess},
		{"take its profile from one that may do more", update("super", &authv1.Client{Scopes: narrow}), fault.CodeNoAccess},
		{"give a profile that is not there", update("mine", &authv1.Client{AccessProfile: "Nobody", Scopes: narrow}), profile.CodeUnknown},
		{"rename one", update("mine", &authv1.Client{ClientId: "other", Scopes: narrow}), fault.CodeBadRequest},
		{"change one that is not there", update("none", &authv1.Client{Scopes: narrow}), fault.CodeNotFound},
		{"get the secret of one's own", rotate("mine"), ""},
		{"get the secret of one that may do more", rotate("broad"), fault.CodeNoAccess},
		{"get the secret of one with a profile that may do more", rotate("super"), fault.CodeNoAccess},
		{"delete one that may do more", remove("super"), fault.CodeNoAccess},
		{"delete one's own", remove("mine"), fault.CodeConflict},
		{"delete one that is not there", remove("none"), fault.CodeNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			faulttest.RequireCode(t, c.code, c.do(ctx))
		})
	}
}
