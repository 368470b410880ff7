package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
)

// long is a word that makes a part large enough to be worth packing.
var long = strings.Repeat("and so on ", 2000)

// respondInParts says ten words, in a part each when the caller takes parts. The mode is
// where it fails.
func (e *echo) respondInParts(ctx context.Context, req any) (any, error) {
	mode := req.(protoreflect.ProtoMessage).ProtoReflect().Get(e.desc.Fields().ByName("mode")).String()
	response := dynamicpb.NewMessage(e.desc)
	var buf []byte
	for i := range 10 {
		if mode == fmt.Sprint("fail at ", i) {
			return nil, fault.Conflict("WFP-90004", "It was changed.")
		}
		e.say(response, fmt.Sprint(i, " ", long))
		if i == 9 || !parts.Requested(ctx) {
			continue
		}
		fields, err := proto.MarshalOptions{}.MarshalAppend(buf, response)
		if err != nil {
			return nil, err
		}
		if buf, err = parts.Send(ctx, fields); err != nil {
			return nil, err
		}
		response = dynamicpb.NewMessage(e.desc)
	}
	return response, nil
}

func (f *fixture) texts(tb testing.TB, wire []byte) []string {
	tb.Helper()
	m := dynamicpb.NewMessage(f.echo.desc)
	require.NoError(tb, proto.Unmarshal(wire, m))
	list := m.Get(f.echo.desc.Fields().ByName("said")).List()
	words := make([]string, list.Len())
	for i := range words {
		words[i] = list.Get(i).String()
	}
	return words
}

func sampleParts() []string {
	words := make([]string, 10)
	for i := range words {
		words[i] = fmt.Sprint(i, " ", long)
	}
	return words
}

func TestResponsesComeInParts(t *testing.T) {
	t.Parallel()
	eachTransport(t, rpc.Config{}, func(t *testing.T, f *fixture) {
		var joined []byte
		count := 0
		ctx := parts.WithReceiver(f.user(t.Context()), func(fields []byte) error {
			count++
			joined = append(joined, fields...)
			return nil
		})
		reply, err := f.ask(t, ctx, f.edge, reciteMethod, "")
		require.NoError(t, err)
		assert.Equal(t, 10, count)
		assert.Equal(t, sampleParts(), f.texts(t, joined))
		assert.Zero(t, proto.Size(reply))
	})
}

// A caller that takes no parts gets the same response as one message.
func TestResponsesComeWholeToOthers(t *testing.T) {
	t.Parallel()
	eachTransport(t, rpc.Config{}, func(t *testing.T, f *fixture) {
		reply, err := f.ask(t, f.user(t.Context()), f.edge, reciteMethod, "")
		require.NoError(t, err)
		wire, err := proto.Marshal(reply)
		require.NoError(t, err)
		assert.Equal(t, sampleParts(), f.texts(t, wire))
	})
}

// A caller that would take parts gets the response of a method without them in one.
func TestAMethodWithoutPartsRespondsInOne(t *testing.T) {
	t.Parallel()
	eachTransport(t, rpc.Config{}, func(t *testing.T, f *fixture) {
		var responses [][]byte
		ctx := parts.WithReceiver(f.user(t.Context()), func(fields []byte) error {
			responses = append(responses, append([]byte(nil), fields...))
			return nil
		})
		_, err := f.ask(t, ctx, f.edge, askMethod, `said: "a" said: "b"`)
		require.NoError(t, err)
		require.Len(t, responses, 1)
		assert.Equal(t, []string{"a", "b"}, f.texts(t, responses[0]))
	})
}

func TestResponsesInPartsThatFail(t *testing.T) {
	t.Parallel()
	eachTransport(t, rpc.Config{}, func(t *testing.T, f *fixture) {
		for mode, want := range map[string]int{"fail at 0": 0, "fail at 5": 5} {
			t.Run(mode, func(t *testing.T) {
				count := 0
				ctx := parts.WithReceiver(f.user(t.Context()), func([]byte) error { count++; return nil })
				_, err := f.ask(t, ctx, f.edge, reciteMethod, `mode: "`+mode+`"`)
				assert.True(t, fault.HasCode(err, "WFP-90004"), "%v", err)
				assert.Equal(t, want, count)
			})
		}
		_, err := f.ask(t, parts.WithReceiver(t.Context(), func([]byte) error { return nil }), f.edge, reciteMethod, "")
		assert.True(t, fault.HasCode(err, fault.CodeUnauthenticated), "%v", err)
	})
}

// A caller that has enough ends the call.
func TestATakerThatFailsEndsTheCall(t *testing.T) {
	t.Parallel()
	eachTransport(t, rpc.Config{}, func(t *testing.T, f *fixture) {
		enough := errors.New("enough")
		taken := 0
		ctx := parts.WithReceiver(f.user(t.Context()), func([]byte) error { taken++; return enough })
		_, err := f.ask(t, ctx, f.edge, reciteMethod, "")
		require.Error(t, err)
		assert.Equal(t, 1, taken)
	})
}

func TestPartsNeedACallerThatTakesThem(t *testing.T) {
	t.Parallel()
	_, err := parts.Send(t.Context(), nil)
	require.Error(t, err)
	assert.False(t, parts.Requested(t.Context()))
}
