package transcode_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// A property that occurs twice in an object is refused with its path, under any combination of its names,
// because JSON parsers differ in which value they use.
func TestRepeatedPropertiesAreRefused(t *testing.T) {
	t.Parallel()
	plan := transcode.For(kindsFile().Messages().ByName("Kinds"))
	for name, c := range map[string]struct{ json, path string }{
		"a scalar":                    {`{"aInt64":1,"aInt64":2}`, `"aInt64"`},
		"the same value":              {`{"aInt64":1,"aInt64":1}`, `"aInt64"`},
		"null first":                  {`{"aInt64":null,"aInt64":1}`, `"aInt64"`},
		"null last":                   {`{"aInt64":1,"aInt64":null}`, `"aInt64"`},
		"a list":                      {`{"listInt32":[1],"listInt32":[2]}`, `"listInt32"`},
		"an object":                   {`{"kinds":{},"kinds":{}}`, `"kinds"`},
		"by JSON name and proto name": {`{"aInt64":1,"a_int64":2}`, `"aInt64"`},
		"with an escape":              {`{"aBool":true,"\u0061Bool":false}`, `"aBool"`},
		"far apart":                   {`{"aBool":true,"aString":"x","listInt32":[1],"aBool":true}`, `"aBool"`},
		"in an object":                {`{"kinds":{"aBool":true,"aBool":true}}`, `"kinds.aBool"`},
		"in a list":                   {`{"listKinds":[{},{"aBool":true,"aBool":true}]}`, `"listKinds[1].aBool"`},
		"a key of a map":              {`{"byText":{"a":1,"a":2}}`, `"byText.a"`},
		"in any JSON":                 {`{"struct":{"a":1,"a":2}}`, `"struct.a"`},
		"in any value":                {`{"value":{"a":{"b":1,"b":2}}}`, `b"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := plan.AppendWire(nil, []byte(c.json))
			require.Error(t, err)
			refused := fault.FromError(err)
			assert.Equal(t, fault.CodeValue, refused.Code)
			assert.Equal(t, 400, refused.Status)
			assert.Contains(t, refused.Message, c.path)
			assert.Contains(t, refused.Message, "occurs more than once")
		})
	}
	for name, json := range map[string]string{
		"once each":               `{"aInt64":1,"aString":"x"}`,
		"in two objects":          `{"kinds":{"aBool":true},"aBool":true,"listKinds":[{"aBool":true},{"aBool":true}]}`,
		"keys in different case":  `{"struct":{"a":1,"A":2}}`,
		"the same key in objects": `{"struct":{"a":{"a":1},"b":{"a":1}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := plan.AppendWire(nil, []byte(json))
			require.NoError(t, err)
		})
	}
}
