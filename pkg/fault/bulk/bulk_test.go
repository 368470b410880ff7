package bulk_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

var errOdd = fault.Invalid("WFS-106607", "Employment term not found.")

func refs(ids ...int64) []*commonv1.Ref {
	out := make([]*commonv1.Ref, len(ids))
	for i, id := range ids {
		out[i] = &commonv1.Ref{Id: proto.Int64(id)}
	}
	return out
}

// acceptEven succeeds for even ids, and fails as the server's fault for negative
// ones.
func acceptEven(_ int, item *commonv1.Ref) (*commonv1.Ref, error) {
	switch {
	case item.GetId() < 0:
		return nil, errors.New("connection lost")
	case item.GetId()%2 != 0:
		return nil, errOdd
	}
	return &commonv1.Ref{Id: item.Id, Name: proto.String("even")}, nil
}

func TestRunReturnsPerItemInInputOrder(t *testing.T) {
	t.Parallel()
	items := refs(2, 3, 4, 5)
	out, err := bulk.Run(items, true, acceptEven)
	require.NoError(t, err)

	body, err := out.Failure()
	require.NoError(t, err)
	assert.Equal(t, fault.CodeBulkPartly, body.GetErrorCode())
	assert.Equal(t, []int32{1, 3}, body.GetDetails().GetErrorOffsets())
	assert.Len(t, out.Successes(), 2)
	require.Len(t, body.GetDetails().GetResults(), 4)
	for i, result := range body.GetDetails().GetResults() {
		if i%2 == 0 {
			got := &commonv1.Ref{}
			require.NoError(t, result.GetSuccess().UnmarshalTo(got))
			assert.Equal(t, items[i].GetId(), got.GetId())
			assert.Equal(t, "even", got.GetName())
			assert.Nil(t, result.GetError())
			continue
		}
		assert.Nil(t, result.GetSuccess())
		assert.Equal(t, errOdd.Code, result.GetError().GetErrorCode())
		input := &commonv1.Ref{}
		require.NoError(t, result.GetError().GetDetails().GetInput().UnmarshalTo(input))
		assert.True(t, proto.Equal(items[i], input), "the input can be sent again")
	}
	assert.Nil(t, errOdd.Details, "a shared error keeps no trace of an item")
}

func TestRunWithNothingWrongHasNoFailure(t *testing.T) {
	t.Parallel()
	for _, items := range [][]*commonv1.Ref{nil, refs(2, 4)} {
		out, err := bulk.Run(items, true, acceptEven)
		require.NoError(t, err)
		body, err := out.Failure()
		require.NoError(t, err)
		assert.Nil(t, body)
		assert.Len(t, out.Successes(), len(items))
	}
}

func TestAllFailedIsA400OfTheSameShape(t *testing.T) {
	t.Parallel()
	out, err := bulk.Run(refs(1, 3), true, acceptEven)
	require.NoError(t, err)
	body, err := out.Failure()
	assert.Nil(t, body)
	f := fault.FromError(err)
	assert.Equal(t, 400, f.Status)
	assert.Equal(t, fault.CodeBulkFailed, f.Code)
	assert.Equal(t, []int32{0, 1}, f.Details.GetErrorOffsets())
	assert.Len(t, f.Details.GetResults(), 2)
}

func TestRunWithoutPartialEndsAtTheFirstError(t *testing.T) {
	t.Parallel()
	calls := 0
	_, err := bulk.Run(refs(2, 3, 5), false, func(i int, item *commonv1.Ref) (*commonv1.Ref, error) {
		calls++
		return acceptEven(i, item)
	})
	assert.Equal(t, error(errOdd), err)
	assert.Equal(t, 2, calls)
}

func TestRunEndsWhenTheServerFails(t *testing.T) {
	t.Parallel()
	_, err := bulk.Run(refs(2, -1, 5), true, acceptEven)
	assert.EqualError(t, err, "connection lost")
}
