package contract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract/cases"
)

func TestEveryCaseFileIsWellFormed(t *testing.T) {
	t.Parallel()
	all, err := Load(cases.FS)
	require.NoError(t, err)
	require.NotEmpty(t, all)
}
