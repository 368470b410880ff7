package contract

import (
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStrictWords(t *testing.T) {
	t.Parallel()
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("words.json", map[string]any{
		"type": "array", "items": map[string]any{"type": "string", "enum": []any{"SHIFTS", "HOLIDAYS"}},
	}))
	words, err := compiler.Compile("words.json")
	require.NoError(t, err)
	assert.Equal(t, []any{"SHIFTS"}, strict(words, "shifts"), "a word in another case")
	assert.Equal(t, []any{"HOLIDAYS", "ROTATIONS"}, strict(words, []any{"Holidays", "ROTATIONS"}), "an unknown word stays")
}
