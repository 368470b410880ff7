package timecard

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
)

// Every exception has a name in every language.
func TestExceptionsHaveNames(t *testing.T) {
	t.Parallel()
	for language, names := range exceptionNames {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			assert.Len(t, names, calculation.ExceptionTypes)
			assert.NotContains(t, names, "")
		})
	}
}
