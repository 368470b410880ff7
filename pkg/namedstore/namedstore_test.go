package namedstore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

func TestNames(t *testing.T) {
	t.Parallel()
	codes := Codes{Missing: "missing", Invalid: "invalid", TooLong: "too long"}
	for _, test := range []struct{ name, given, code string }{
		{"a name", "Early", ""},
		{"as long as may be", strings.Repeat("é", maxName), ""},
		{"none", "", "missing"},
		{"blanks", " \t", "missing"},
		{"too long", strings.Repeat("é", maxName+1), "too long"},
		{"a control character", "a\x07b", "invalid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := codes.CheckName("thing", test.given)
			if test.code == "" {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			assert.Equal(t, test.code, fault.FromError(err).Code)
		})
	}
}

// The id is a column: it does not come from the body. A message without a version has none.
func TestColumnsWinOverTheBody(t *testing.T) {
	t.Parallel()
	store := NewStore(Kind[*commonv1.Ref]{
		Table: "thing",
		Strip: func(r *commonv1.Ref) { r.Qualifier = nil },
		Fill:  func(r *commonv1.Ref, version int64) { r.Qualifier = proto.String(strings.Repeat("v", int(version))) },
	})
	given := &commonv1.Ref{Id: proto.Int64(7), Name: proto.String("Early"), Qualifier: proto.String("other")}
	body, err := store.encode(given)
	require.NoError(t, err)
	var kept commonv1.Ref
	require.NoError(t, proto.Unmarshal(body, &kept))
	assert.True(t, proto.Equal(&commonv1.Ref{Name: proto.String("Early")}, &kept), "%v", &kept)
	filled := store.filled(given, 8, 2)
	assert.True(t, proto.Equal(&commonv1.Ref{Id: proto.Int64(8), Name: proto.String("Early"), Qualifier: proto.String("vv")}, filled), "%v", filled)
	assert.EqualValues(t, 7, given.GetId(), "what was sent is not changed")
}
