package routing

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

func TestRaw(t *testing.T) {
	t.Parallel()
	raw, err := parseRaw((&timekeepingv1.PayrollExportText{}).ProtoReflect().Descriptor())
	require.NoError(t, err)
	const csv, json = "text/csv;charset=utf-8", "application/json;charset=utf-8"
	for name, c := range map[string]struct {
		contentType, want string
		fails             bool
	}{
		"the type of the contract":           {"", csv, false},
		"one of its others":                  {json, json, false},
		"a type that the contract knows not": {"text/html", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fields, err := proto.Marshal(&timekeepingv1.PayrollExportText{Pieces: [][]byte{[]byte("a,"), []byte("b")}, ContentType: c.contentType})
			require.NoError(t, err)
			got, err := raw.ContentType(fields)
			if c.fails {
				assert.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			var body bytes.Buffer
			require.NoError(t, raw.Write(&body, fields))
			assert.Equal(t, "a,b", body.String())
		})
	}
	_, err = raw.ContentType([]byte{0xff})
	assert.Error(t, err)
	none, err := parseRaw((&timekeepingv1.PayrollExport{}).ProtoReflect().Descriptor())
	require.NoError(t, err)
	assert.Nil(t, none)
}
