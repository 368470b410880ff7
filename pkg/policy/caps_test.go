package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/policy/policytest"
)

// cappedProto has lists that are counted by several limits.
const cappedProto = `
name: "capped.proto" package: "rotaloom.policytest.v1" syntax: "proto3"
dependency: "rotaloom/options/v1/options.proto"
message_type {
  name: "Capped"
  options { [rotaloom.options.v1.message] {
    limits { max: 10 code: "WFP-90003" items: "first" items: "second" quantity: "both" }
    limits { max: 5 code: "WFP-90003" items: "first" quantity: "first" }
    limits { max: 7 code: "WFP-90003" items: "first" quantity: "first" }
  } }
  field { name: "first" number: 1 label: LABEL_REPEATED type: TYPE_INT64 json_name: "first" }
  field { name: "second" number: 2 label: LABEL_REPEATED type: TYPE_INT64 json_name: "second" }
  field { name: "free" number: 3 label: LABEL_REPEATED type: TYPE_INT64 json_name: "free" }
}`

func TestTheLeastLimitCapsAList(t *testing.T) {
	t.Parallel()
	desc, err := policytest.Files(t, cappedProto).FindDescriptorByName("rotaloom.policytest.v1.Capped")
	require.NoError(t, err)
	caps, err := policy.Caps(desc.(protoreflect.MessageDescriptor))
	require.NoError(t, err)
	assert.Equal(t, map[protoreflect.FieldNumber]int64{1: 5, 2: 10}, caps)
}

// Items that were left out count as if they were sent, and an incomplete request passes no limit. A
// malformed note of left-out items is ignored.
func TestItemsThatWereLeftOutCount(t *testing.T) {
	t.Parallel()
	files := policytest.Files(t, contract)
	m := method(t, files, readMethod)
	const ids, most = 6, protowire.MaxValidNumber
	field := func(number protowire.Number, payload ...byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), payload)
	}
	for _, c := range []struct {
		name    string
		unknown []byte
		code    string
	}{
		{"nothing", nil, ""},
		{"one, which is the third", policy.AppendMore(nil, ids, 1), fault.CodeTooLarge},
		{"two, which are too many", policy.AppendMore(nil, ids, 2), fault.CodeItemLimit},
		{"twice one", policy.AppendMore(policy.AppendMore(nil, ids, 1), ids, 1), fault.CodeItemLimit},
		{"two of another list", policy.AppendMore(nil, 9, 2), fault.CodeTooLarge},
		{"some, somewhere below", policy.AppendIncomplete(nil), fault.CodeTooLarge},
		{"two, behind another field", policy.AppendMore(field(1000, 1, 2, 3), ids, 2), fault.CodeItemLimit},
		{"another field that looks alike", field(1000, ids, 2), ""},
		{"a number in its place", protowire.AppendVarint(protowire.AppendTag(nil, most, protowire.VarintType), 2), ""},
		{"no list", field(most), ""},
		{"no count", field(most, ids), ""},
		{"a list that is cut off", field(most, 0x80), ""},
		{"a count that is cut off", field(most, ids, 0x80), ""},
		{"a field that is cut off", policy.AppendMore(nil, ids, 2)[:6], ""},
		{"a tag that is cut off", []byte{0x80}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req := policytest.Message(t, files, readMessage, "ids: [1, 2]")
			req.ProtoReflect().SetUnknown(c.unknown)
			err := m.CheckLimits(req)
			if c.code == "" {
				require.NoError(t, err)
				return
			}
			refused := fault.FromError(err)
			require.NotNil(t, refused)
			assert.Equal(t, c.code, refused.Code, refused.Message)
			assert.Equal(t, 413, refused.Status)
		})
	}
}

func TestABodyThatLacksItemsIsRefused(t *testing.T) {
	t.Parallel()
	files := policytest.Files(t, contract)
	m := method(t, files, "/rotaloom.policytest.v1.Reads/Change")
	for _, c := range []struct {
		name    string
		unknown []byte
		refused bool
	}{{"whole", nil, false}, {"lacking", policy.AppendIncomplete(nil), true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req := policytest.Message(t, files, readMessage, `range { start_date: "2026-01-01" end_date: "2026-01-02" }`)
			body := req.ProtoReflect().Descriptor().Fields().ByName("range")
			req.ProtoReflect().Mutable(body).Message().SetUnknown(c.unknown)
			assert.Equal(t, c.refused, m.CheckLimits(req) != nil)
		})
	}
}
