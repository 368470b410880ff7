package transcode

import "google.golang.org/protobuf/encoding/protowire"

// appendEmpties writes the empty lists that a message names, after its other fields.
func (p *Plan) appendEmpties(dst, wire []byte) ([]byte, error) {
	found, err := p.collect(wire)
	if err != nil {
		return dst, err
	}
	return p.appendEmptyLists(dst, found), nil
}

// appendEmptyLists writes the empty lists that a message names. found has the occurrences of its fields.
func (p *Plan) appendEmptyLists(dst []byte, found [][]fieldData) []byte {
	named := map[protowire.Number]bool{}
	for _, v := range found[p.empties.index] {
		if v.wire == protowire.VarintType {
			named[protowire.Number(v.bits)] = true
			continue
		}
		for packed := v.bytes; len(packed) > 0; {
			number, n := protowire.ConsumeVarint(packed)
			if n < 0 {
				break // The number is truncated, so that it names no list.
			}
			named[protowire.Number(number)], packed = true, packed[n:]
		}
	}
	for i, f := range p.fields {
		if f.list && f != p.empties && named[f.number] && len(found[i]) == 0 {
			dst = append(appendKey(dst, f), "[]"...)
		}
	}
	return dst
}
