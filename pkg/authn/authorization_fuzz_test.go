package authn_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// FuzzAuthenticate reads any Authorization header. Only the one valid token is accepted; everything
// else is a 401 that repeats nothing from the header.
func FuzzAuthenticate(f *testing.F) {
	keys := newIssuer(f)
	good := keys.token(f, nil)
	verifier := newVerifier(f, keys, authn.NoRevocations{}, clock.NewFake(start), 16)
	const placeholder = "GOOD"
	for _, value := range []string{
		"GOOD", "Bearer GOOD", "bearer  GOOD ", "Basic GOOD", "Bearer GOOD GOOD", "GOOD.", ".GOOD", "Bearer", "", " ", "\tGOOD", "Bearer\tGOOD",
		"Bearer eyJhbGciOiJub25lIn0.e30.", "Bearer eyJhbGciOiJFZERTQSIsImtpZCI6ImtleS0xIn0.e30.AAAA", "a.b.c", "..", "\x00", "\xff",
		"Bearer {\"payload\":\"e30\",\"signatures\":[{}]}", strings.Repeat(".", 17000),
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		header := strings.ReplaceAll(value, placeholder, good)
		token := authn.BearerToken(header)
		require.NotContains(t, authn.BearerToken("Bearer "+token), " Bearer")
		p, sent, err := authn.Authenticate(t.Context(), verifier, authn.Call{Authorization: header})
		if err == nil {
			require.Equal(t, good, sent)
			require.Equal(t, "ada", p.Subject)
			return
		}
		refused := fault.FromError(err)
		require.Equal(t, http.StatusUnauthorized, refused.Status, "%v", err)
		require.Nil(t, p)
		require.NotContains(t, refused.Message, good)
		if token == "" {
			require.Equal(t, authn.Missing().Message, refused.Message)
		}
	})
}
