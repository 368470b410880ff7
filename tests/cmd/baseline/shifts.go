package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	selectEmployees = `SELECT id, person_number FROM employee WHERE id = ANY($1)`

	selectShifts = `
SELECT employee_id, day, id, start_minute, end_minute, label, version, assignment_id, segments
FROM shift WHERE employee_id = ANY($1) AND day BETWEEN $2 AND $3 ORDER BY employee_id, day`
)

// write writes the shifts while it reads their rows.
func (h *handler) write(ctx context.Context, w io.Writer, req *request) error {
	days := req.Where.Employees
	ids := days.EmployeeRefs.IDs
	batch := &pgx.Batch{}
	out := &writer{to: w, chunk: h.chunk, numbers: make(map[int64]string, len(ids))}
	batch.Queue(selectEmployees, ids).Query(out.employees)
	batch.Queue(selectShifts, ids, days.StartDate, days.EndDate).Query(out.shifts)
	return h.pool.SendBatch(ctx, batch).Close()
}

// writer appends the JSON of shifts to a buffer, and writes the buffer out when it holds a chunk.
type writer struct {
	to      io.Writer
	chunk   int
	numbers map[int64]string // of persons, as JSON, by employee
	dates   dates
	buf     []byte
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

func (w *writer) employees(rows pgx.Rows) error {
	for rows.Next() {
		v := rows.RawValues()
		w.numbers[int8At(v[0])] = string(appendText(nil, v[1]))
	}
	return rows.Err()
}

func (w *writer) shifts(rows pgx.Rows) error {
	kept := buffers.Get().(*[]byte)
	defer func() {
		*kept = w.buf
		buffers.Put(kept)
	}()
	w.buf = append((*kept)[:0], `{"shifts":[`...)
	for first := true; rows.Next(); first = false {
		if !first {
			w.buf = append(w.buf, ',')
		}
		w.shift(rows.RawValues())
		if w.chunk > 0 && len(w.buf) >= w.chunk {
			if _, err := w.to.Write(w.buf); err != nil {
				return err
			}
			w.buf = w.buf[:0]
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	w.buf = append(w.buf, "]}"...)
	_, err := w.to.Write(w.buf)
	return err
}

func (w *writer) shift(v [][]byte) {
	employee, day := int8At(v[0]), int32(int4At(v[1]))
	b := append(w.buf, `{"id":`...)
	b = strconv.AppendInt(b, int8At(v[2]), 10)
	b = append(b, `,"employee":{"id":`...)
	b = strconv.AppendInt(b, employee, 10)
	b = append(b, `,"qualifier":`...)
	b = append(b, w.numbers[employee]...)
	b = append(b, `},"startDateTime":"`...)
	b = w.dates.append(b, day, int2At(v[3]))
	b = append(b, `","endDateTime":"`...)
	b = w.dates.append(b, day, int2At(v[4]))
	b = append(b, `","label":`...)
	b = appendText(b, v[5])
	b = append(b, `,"generated":true,"open":false,"locked":false,"posted":false,"version":`...)
	b = strconv.AppendInt(b, int8At(v[6]), 10)
	b = append(b, `,"relations":[{"type":"FROM_GROUPITEM_TO_ITEM","relationType":"FROM_GROUPITEM_TO_ITEM","active":true,"from":{"id":`...)
	b = strconv.AppendInt(b, int8At(v[7]), 10)
	b = append(b, `},"targetRef":{"id":`...)
	b = strconv.AppendInt(b, int8At(v[2]), 10)
	b = append(b, `}}],"segments":[`...)
	b = w.segments(b, day, int8At(v[2]), v[8])
	w.buf = append(b, `],"onCall":false,"selfServiced":false,"postedNotified":false,"postedNotificationPending":false,"deleted":false,"commentNotes":[]}`...)
}

// seriesShift is the distance from the id of a shift to the ids of its segments.
const seriesShift = 19

// flags are the JSON flags of a segment, after its type.
const flags = `","transferOrgJob":false,"transferWorkrule":false,"transferCostCenter":false,"transferLaborCategories":false,` +
	`"userEnteredOrgJob":false,"userEnteredWorkrule":false,"userEnteredCostCenter":false,"userEnteredLaborCategories":false}`

// kinds are the names of segments, by number.
var kinds = [...]string{1: "REGULAR_SEGMENT", 2: "BREAK_SEGMENT"}

// segments appends segments of five bytes each: kind, first and last minute.
func (w *writer) segments(b []byte, day int32, shift int64, packed []byte) []byte {
	for i := 0; i*5 < len(packed); i++ {
		s := packed[i*5:]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = strconv.AppendInt(b, shift+int64(i)<<seriesShift, 10)
		b = append(b, `,"startDateTime":"`...)
		b = w.dates.append(b, day, int2At(s[1:]))
		b = append(b, `","endDateTime":"`...)
		b = w.dates.append(b, day, int2At(s[3:]))
		b = append(b, `","segmentTypeRef":{"id":`...)
		b = strconv.AppendInt(b, int64(s[0]), 10)
		b = append(b, `,"qualifier":"`...)
		b = append(b, kinds[s[0]]...)
		b = append(b, `"},"type":"`...)
		b = append(b, kinds[s[0]]...)
		b = append(b, flags...)
	}
	return b
}

// dates caches the text of the last date, which segments share.
type dates struct {
	day  int32
	text [len("2006-01-02T")]byte
}

// append appends a minute of a day; PostgreSQL counts days from 2000-01-01.
func (d *dates) append(b []byte, day int32, minute int) []byte {
	if d.day != day || d.text[0] == 0 {
		at := time.Unix(946684800+int64(day)*86400, 0).UTC()
		at.AppendFormat(d.text[:0], "2006-01-02T")
		d.day = day
	}
	b = append(b, d.text[:]...)
	h, m := minute/60, minute%60
	return append(b, byte('0'+h/10), byte('0'+h%10), ':', byte('0'+m/10), byte('0'+m%10), ':', '0', '0')
}

// appendText appends a JSON text.
func appendText(b, text []byte) []byte {
	for _, c := range text {
		if c < ' ' || c >= 0x80 || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(string(text)) // a text has no errors
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

func int8At(v []byte) int64 { return int64(binary.BigEndian.Uint64(v)) }

func int4At(v []byte) uint32 { return binary.BigEndian.Uint32(v) }

func int2At(v []byte) int { return int(binary.BigEndian.Uint16(v)) }
