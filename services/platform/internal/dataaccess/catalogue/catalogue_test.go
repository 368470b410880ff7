package catalogue

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
)

// describer is a service that may be away.
type describer struct {
	datav1.DataProviderServiceClient
	key         string
	unavailable bool
	requests    int
}

func (d *describer) DescribeDataElements(context.Context, *datav1.DescribeDataElementsRequest, ...grpc.CallOption) (*datav1.DescribeDataElementsResponse, error) {
	d.requests++
	if d.unavailable {
		return nil, errors.New("away")
	}
	return &datav1.DescribeDataElementsResponse{Providers: []*datav1.DataProvider{{Name: d.key, Elements: []*datav1.DataElement{{Key: d.key}}}}}, nil
}

func TestElementsAreThoseOfTheServicesThatResponded(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Now())
	one, other := &describer{key: "A"}, &describer{key: "B", unavailable: true}
	c := New(clk, one, other)
	find := func(key string) error {
		_, err := c.Elements(t.Context()).Find(key)
		return err
	}
	require.NoError(t, find("A"))
	assert.True(t, fault.HasStatus(find("B"), 503), "it cannot be known whether there is one")
	assert.Equal(t, 1, other.requests, "not every request waits for a service that is away")
	other.unavailable = false
	clk.Advance(describeAgain)
	require.NoError(t, find("B"))
	assert.True(t, fault.HasCode(find("C"), errcode.CodeBadRequest))
	assert.Equal(t, 1, one.requests)

	one.unavailable = true
	clk.Advance(describedFor)
	require.NoError(t, find("A"), "a service that is away keeps the elements that it had")
	assert.Equal(t, 2, one.requests)
}
