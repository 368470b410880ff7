package rpc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

func TestSettledWithoutPartialSuccess(t *testing.T) {
	t.Parallel()
	one := &commonv1.Ref{}
	out := &bulk.Outcome[*commonv1.Ref, *commonv1.Ref]{}
	out.Succeed(one, one)
	done, failure, err := rpc.BulkResult(t.Context(), out)
	require.NoError(t, err)
	assert.Nil(t, failure)
	assert.Equal(t, []*commonv1.Ref{one}, done)

	none := &bulk.Outcome[*commonv1.Ref, *commonv1.Ref]{}
	none.Fail(one, fault.Invalid("WRL-1", "Wrong."))
	done, failure, err = rpc.BulkResult(t.Context(), none)
	assert.True(t, fault.HasCode(err, fault.CodeBulkFailed) && fault.HasStatus(err, 400), err)
	assert.Nil(t, failure)
	assert.Empty(t, done)
}
