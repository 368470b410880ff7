package jsontext

import (
	"bytes"
	"strconv"
)

// Integer truncates a JSON number to an integer, and returns its sign and its magnitude. ok is false if the
// magnitude does not fit 64 bits.
func Integer(number []byte) (negative bool, magnitude uint64, ok bool) {
	if len(number) > 0 && number[0] == '-' {
		negative = true
		number = number[1:]
	}
	if !bytes.ContainsAny(number, ".eE") {
		v, err := strconv.ParseUint(string(number), 10, 64)
		return negative, v, err == nil
	}
	digits, point := decimal(number)
	for len(digits) > 0 && digits[0] == '0' {
		digits = digits[1:]
		point--
	}
	const most = 20 // digits of the largest 64-bit number
	switch {
	case point <= 0 || len(digits) == 0:
		return negative, 0, true
	case point > most:
		return negative, 0, false
	}
	if point > len(digits) {
		digits = append(digits, bytes.Repeat([]byte{'0'}, point-len(digits))...)
	}
	v, err := strconv.ParseUint(string(digits[:point]), 10, 64)
	return negative, v, err == nil
}

// decimal returns the digits of an unsigned number and the position of the decimal point, which may be negative
// or behind the last digit.
func decimal(number []byte) (digits []byte, point int) {
	mantissa, exponent := number, 0
	if i := bytes.IndexAny(number, "eE"); i >= 0 {
		mantissa = number[:i]
		// Beyond this limit the value is 0 or out of range, because a mantissa is at most as long as the body.
		const limit = 1 << 30
		e, err := strconv.Atoi(string(number[i+1:]))
		if err != nil && number[i+1] == '-' {
			e = -limit
		} else if err != nil {
			e = limit
		}
		exponent = max(-limit, min(limit, e))
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	digits = append(append(digits, whole...), fraction...)
	return digits, len(whole) + exponent
}
