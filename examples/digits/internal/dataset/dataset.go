// Package dataset reads the handwritten digits and splits them into the rows
// the network was trained on and those held out. It must not know tensors or
// the network.
package dataset

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/sinter-ml/sinter/examples/digits/data"
)

const (
	// Pixels is the number of inputs of one digit: 8×8, row by row.
	Pixels = 64
	// Classes is the number of labels.
	Classes = 10

	maxPixel     = 16 // brightest value in the file
	heldOutEvery = 5  // rows 0, 5, 10, …; scripts/train_digits.py does the same
)

// Set is a list of digits.
type Set struct {
	X []float32 // Len × Pixels, row-major, scaled to 0..1
	Y []int64   // Len labels, 0..9
}

// Len returns the number of digits.
func (s *Set) Len() int { return len(s.Y) }

// Image returns the pixels of one digit.
func (s *Set) Image(i int) []float32 { return s.X[i*Pixels : (i+1)*Pixels] }

// Load reads the data set carried in the binary.
func Load() (*Set, error) {
	z, err := gzip.NewReader(bytes.NewReader(data.CSV))
	if err != nil {
		return nil, fmt.Errorf("digits: %w", err)
	}
	return Parse(z)
}

// Parse reads rows of 64 pixels and a label, separated by commas.
func Parse(r io.Reader) (*Set, error) {
	rows := csv.NewReader(r)
	rows.FieldsPerRecord = Pixels + 1
	rows.ReuseRecord = true
	s := &Set{}
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return nil, fmt.Errorf("digits: %w", err)
		}
		for i, field := range row {
			limit := maxPixel
			if i == Pixels {
				limit = Classes - 1
			}
			v, err := strconv.Atoi(field)
			if err != nil || v < 0 || v > limit {
				line, column := rows.FieldPos(i)
				return nil, fmt.Errorf("digits: line %d, column %d: %q is not in 0..%d", line, column, field, limit)
			}
			if i == Pixels {
				s.Y = append(s.Y, int64(v))
			} else {
				s.X = append(s.X, float32(v)/maxPixel)
			}
		}
	}
}

// Split returns the rows the network was trained on, and those held out.
func (s *Set) Split() (training, heldOut *Set) {
	training, heldOut = &Set{}, &Set{}
	for i, y := range s.Y {
		to := training
		if i%heldOutEvery == 0 {
			to = heldOut
		}
		to.X = append(to.X, s.Image(i)...)
		to.Y = append(to.Y, y)
	}
	return training, heldOut
}
