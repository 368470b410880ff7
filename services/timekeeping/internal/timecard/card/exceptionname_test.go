package card

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Every exception has a name in every language.
func TestExceptionsHaveNames(t *testing.T) {
	t.Parallel()
	for language, names := range exceptionNames {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			assert.Len(t, names, len(faults))
			assert.NotContains(t, names, "")
		})
	}
}
