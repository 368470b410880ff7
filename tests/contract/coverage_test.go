package contract

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract/cases"
)

func TestEveryOperationHasCases(t *testing.T) {
	t.Parallel()
	all, err := Load(cases.FS)
	require.NoError(t, err)
	operations := Operations()
	require.NotEmpty(t, operations)
	called, succeeds, refused := map[*Route]bool{}, map[*Operation]bool{}, map[*Operation]bool{}
	for _, c := range all {
		for _, step := range c.Steps {
			if o, r := Called(operations, step); o != nil {
				called[r] = true
				succeeds[o] = succeeds[o] || step.Status < http.StatusBadRequest
				refused[o] = refused[o] || step.Status >= http.StatusBadRequest
			}
		}
	}
	for _, o := range operations {
		for _, r := range o.Routes {
			assert.True(t, called[r], "no case calls %s of %s", r, o.Name)
		}
		assert.True(t, succeeds[o], "no case shows a success of %s", o.Name)
		assert.True(t, refused[o], "no case shows how %s refuses a request", o.Name)
	}
}
