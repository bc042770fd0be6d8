module github.com/sinter-ml/sinter

go 1.26
