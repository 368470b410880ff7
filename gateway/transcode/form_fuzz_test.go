package transcode_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// FuzzAppendForm parses any form. An accepted form yields the values that net/url reads; an error is the
// caller's.
func FuzzAppendForm(f *testing.F) {
	for _, form := range []string{
		"", "&", "=", "password=a", "password=a&password=b", "password=&password=", "password=%zz", "pass%77ord=a+b%26", "password=%ff", "password=%00",
		"username=%F0%9F%98%80&unknown=1&scope=a%20b", "a=1;b=2", "password", "client_id=c&client_secret=s&grant_type=password&auth_chain=x&nonce=n&refresh_token=r",
	} {
		f.Add([]byte(form))
	}
	plan := transcode.For((&authv1.IssueTokenRequest{}).ProtoReflect().Descriptor())
	f.Fuzz(func(t *testing.T, form []byte) {
		wire, err := plan.AppendForm(nil, form)
		if err != nil {
			refused := fault.FromError(err)
			require.Equal(t, 400, refused.Status)
			require.Equal(t, "invalid_request", refused.OAuth)
			return
		}
		var got authv1.IssueTokenRequest
		require.NoError(t, proto.Unmarshal(wire, &got), "%q", form)
		want, err := url.ParseQuery(string(form))
		if err != nil {
			return
		}
		require.Equal(t, want.Get("password"), got.GetPassword())
		require.Equal(t, want.Get("username"), got.GetUsername())
		require.Equal(t, want.Get("client_secret"), got.GetClientSecret())
	})
}
